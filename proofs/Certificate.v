(* The two theorems for rational points and matrices, as in certificates; and what everything depends on. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Import Powers Leads Negative Form Hardmax Accepted Radius Layers.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Rational.
Variables (d n : nat) (A : 'M[rat]_d) (mult : 'I_n -> rat).
Hypothesis mult_gt0 : forall i, 0 < mult i.
Variables (g alpha : rat).
Hypotheses (g_gt0 : 0 < g) (alpha_gt0 : 0 < alpha) (gE : g * (1 + alpha) = 1).

(* statements 1 to 5 *)
Definition certificate_sound :=
  @accepted_sound [archiFieldType of rat] [lmodType rat of 'rV[rat]_d] (score A) (scoreDl A) (scoreZl A)
    (scoreDr A) (scoreZr A) [finType of 'I_n] mult mult_gt0 g alpha g_gt0 alpha_gt0 gE.

(* coordinates are linear forms, so `tends_to` is convergence of each coordinate *)
Lemma coordinate k : @linear_form [archiFieldType of rat] [lmodType rat of 'rV[rat]_d] (fun x => x 0 k).
Proof. by split=> *; rewrite mxE. Qed.

(* The hypotheses can be met: a certificate of a point alone, which leads from layer 0 on, is accepted. *)
Lemma accepted_once (z : {ffun unit -> 'rV[rat]_d}) :
  accepted (score A) (fun=> 1) g alpha [:: (0%N, fun=> setT)] (fun _ _ _ => true) setT z 0
    (fun=> Some 0%N) (fun=> Vertex _ tt).
Proof.
have T (S : {set unit}) : tt \in S -> S = setT by move=> h; apply/setP => -[]; rewrite inE.
have A0 : attended (score A) z tt = setT by apply: T; apply/mem_att => -[].
have f0 : is_follower (fun=> setT) tt by apply/existsP; exists tt; rewrite andbb eq_sym (T [set tt]) ?set11.
exists 0%N, z, (fun=> None), setT, 0%N; rewrite (_ : sets_at _ 0 = fun=> setT) //; split.
- exact: Start.
- by split=> //; apply/forallP => -[]; rewrite A0.
- split; first exact/forall_inP.
  by apply/setP => -[]; rewrite !inE f0.
- rewrite /stay eqxx andbT /=; apply/eqP/ffunP => -[]; rewrite ffunE.
  by apply: (@mean_const _ _ _ _ (fun=> ltr01) _ z tt) => // -[] //; rewrite inE.
split=> [[]|[]]; last by rewrite /= inE eqxx.
by rewrite /dated (_ : is_leader _ _ _) //; apply/forall_inP => -[].
Qed.
End Rational.

(* What the main theorems depend on: `make proofs` fails unless it is nothing ("Closed under the global context"). *)
Print Assumptions leader_for_ever.
Print Assumptions follower_stays.
Print Assumptions no_new_leader.
Print Assumptions closed_form.
Print Assumptions straight.
Print Assumptions lead_terms.
Print Assumptions lead_of_sound.
Print Assumptions doubtful_sound.
Print Assumptions is_negative_between_sound.
Print Assumptions is_negative_from_sound.
Print Assumptions is_negative_sound.
Print Assumptions stay_sound.
Print Assumptions sets_atE.
Print Assumptions walk_sound.
Print Assumptions rate.
Print Assumptions form_tends.
Print Assumptions accepted_sound.
Print Assumptions face_nearest.
Print Assumptions tokens_sound.
Print Assumptions check_radius_sound.
Print Assumptions norm_above_ok.
Print Assumptions radius_sound.
Print Assumptions value_layer.
Print Assumptions masked_sound.
Print Assumptions power_sound.
Print Assumptions is_zero_sound.
Print Assumptions sign_sound.
Print Assumptions certificate_sound.
Print Assumptions accepted_once.

(* The main theorem, `accepted_sound` of Accepted.v, for rational points and matrices, as in certificates; an example
   that meets its hypotheses; and what the theorems of all files depend on. *)
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

(* The hypotheses can be met: of v and v/2 the first leads, the second follows it and ends there. *)
Lemma accepted_example (v : 'rV[rat]_d) : 0 < score A v v ->
  accepted (score A) (fun=> 1) g alpha [:: (0%N, fun=> [set true])] (fun _ _ _ => true) setT
    [ffun b : bool => if b then v else 2%:R^-1 *: v] 0 (fun b => if b then Some 0%N else None) (fun=> Vertex _ true).
Proof.
move=> v0; set z := [ffun b => _]; pose C (b : bool) := [set true].
have S b : attended (score A) z b = C b.
  apply: (attP (c := true)) => [|j /set1P -> //|[]]; rewrite ?set11 // => _.
  by rewrite !ffunE; case: b; rewrite ?scoreZl ?scoreZr ?ltr_pmul2l ?gtr_pmull.
have f b : is_follower C b by apply/existsP; exists true; rewrite eqxx.
have Mv y : M (fun=> 1) C y = [ffun=> y true].
  by apply/ffunP => b; rewrite !ffunE; apply: (mean_const (fun=> ltr01) (set11 true)) => j /set1P ->.
exists 0%N, z, (fun=> None), setT, 1%N; rewrite (_ : sets_at _ 0 = C) //; split.
- exact: Start.
- by split=> //; apply/forallP => b; rewrite S.
- by split; [apply/forall_inP | apply/setP => b; rewrite !inE f].
- by rewrite /stay /= !Mv ffunE eqxx; apply/forallP => b; rewrite f.
split=> [b|b]; last by rewrite /= !Mv !ffunE inE eqxx.
rewrite /dated; case: b; first by rewrite (_ : is_leader _ _ _) //; apply/forall_inP => j /set1P ->.
rewrite (_ : is_leader _ _ _ = false) //; apply/negbTE/forall_inP => /(_ true (set11 _)).
rewrite !ffunE -subr_eq0 -{1}[v]scale1r -scalerBl scaler_eq0 => /orP[//|/eqP vE].
by move: v0; rewrite vE -(scale0r 0) scoreZl mul0r.
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
Print Assumptions accepted_example.

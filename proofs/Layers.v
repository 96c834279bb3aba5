(* Layers with a mask, and with a value matrix a P where P is a projection: when their sets stay, and where tokens end.
   All leads are asked, since a token may leave the leader that it follows: with a causal mask and step 1/2, the third
   of (1, 0), (5, -20), (1/2, 1/4) attends to the first token alone, which leads, and from layer 2 on to the second. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Require Import Leads Negative Form Hardmax Accepted.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Layers.
Variables (R : archiFieldType) (V : lmodType R) (B : V -> V -> R).
Hypothesis BDl : forall x y u, B (x + y) u = B x u + B y u.
Hypothesis BZl : forall a x u, B (a *: x) u = a * B x u.
Hypothesis BDr : forall u x y, B u (x + y) = B u x + B u y.
Hypothesis BZr : forall a u x, B u (a *: x) = a * B u x.
Variables (I : finType) (mult : I -> R).
(* whom each token may attend to; alpha is the step times a, and g = 1 / (1 + alpha) *)
Variable mask : I -> {set I}.
Variable P : V -> V.
Hypothesis PD : forall x y, P (x + y) = P x + P y.
Hypothesis PZ : forall a x, P (a *: x) = a *: P x.
Variables (g alpha : R).
Hypotheses (g_gt0 : 0 < g) (alpha_gt0 : 0 < alpha) (gE : g * (1 + alpha) = 1).
Notation cloud := {ffun I -> V}.
Notation sets := (I -> {set I}).
Implicit Types (C : sets) (z y : cloud).

Definition masked z i : {set I} := [set j in mask i | [forall l in mask i, B (z i) (z l) <= B (z i) (z j)]].
Definition target C z : cloud := [ffun i => z i - P (z i) + P (mean mult (C i) z)].
Definition masked_layer z := step (target (masked z)) g z.
Definition masked_orbit z m := iter m masked_layer z.

Lemma PN x : P (- x) = - P x. Proof. by rewrite -scaleN1r PZ scaleN1r. Qed.

(* The layer solves z' + alpha P z' = z + alpha P w, by which a value matrix a P is defined. *)
Theorem value_layer z i : (forall x, P (P x) = P x) ->
  masked_layer z i + alpha *: P (masked_layer z i) = z i + alpha *: P (mean mult (masked z i) z).
Proof.
move=> PP; rewrite /masked_layer /step !ffunE; set x := z i; set w := mean _ _ _.
have -> : g *: x + (1 - g) *: (x - P x + P w) = x + (1 - g) *: P (w - x).
  by rewrite -addrA scalerDr addrA -scalerDl [g + _]addrC subrK scale1r PD PN [- P x + _]addrC.
rewrite PD PZ PP scalerDr scalerA -!addrA; congr (_ + _); rewrite addrCA -scalerDl.
rewrite (_ : 1 - g + _ = 1 + alpha - g * (1 + alpha)); last by ring.
by rewrite gE [1 + _]addrC addrK -scalerDr -PD addrC subrK.
Qed.

Lemma targetD C z z' : target C (z + z') = target C z + target C z'.
Proof. by apply/ffunP => i; rewrite !ffunE meanD !PD opprD (addrACA (z i)) addrACA. Qed.
Lemma targetZ C a z : target C (a *: z) = a *: target C z.
Proof. by apply/ffunP => i; rewrite !ffunE meanZ !PZ -scalerBr -scalerDr. Qed.

Notation form C := (form (target C) g alpha).
Definition check_masked C z := [forall i, masked z i == C i].
Lemma check_maskedP C z : reflect (forall i, masked z i = C i) (check_masked C z).
Proof. by apply: (iffP forallP) => h i; apply/eqP. Qed.

Lemma maskedP z i (S : {set I}) c : c \in S -> S \subset mask i ->
  (forall j, j \in S -> B (z i) (z j) = B (z i) (z c)) ->
  (forall j, j \in mask i -> j \notin S -> B (z i) (z j) < B (z i) (z c)) -> masked z i = S.
Proof.
move=> cS /subsetP sub tie lt; apply/setP => j; rewrite inE; case: (boolP (j \in S)) => jS.
  rewrite sub //; apply/forall_inP => l lm; rewrite (tie j) //.
  by case: (boolP (l \in S)) => lS; [rewrite tie | apply/ltW/lt].
apply/negbTE/negP => /andP[jm /forall_inP /(_ c (sub c cS))]; by rewrite leNgt lt.
Qed.

Lemma masked_lt z i c j : c \in masked z i -> j \in mask i -> j \notin masked z i -> B (z i) (z j) < B (z i) (z c).
Proof.
rewrite !inE => /andP[cm /forall_inP top] jm; rewrite jm /= => jS; rewrite lt_neqAle top // andbT.
by apply: contra jS => /eqP E; apply/forall_inP => l lm; rewrite E top.
Qed.

Definition masked_rows C L z i j c := lead_of (terms (target C) alpha B L z i j c).
Definition masked_stay fuel C L z N :=
  (target C (iter L (target C) z) == iter L (target C) z) &&
  [forall i, [exists c in C i, [forall j in C i, masked_rows C L z i j c == [::]] &&
     [forall j in mask i, (j \notin C i) ==>
        (~~ doubtful (masked_rows C L z i j c) || is_negative g fuel (masked_rows C L z i j c) N)]]].

(* The sets of such a layer stay for N layers more (or for ever), if all leads are found to stay negative. *)
Theorem masked_stay_sound fuel C L z N : check_masked C z -> masked_stay fuel C L z N ->
  forall m, (if N is Some n then (m <= n)%N else true) ->
  masked_orbit z m = form C L z m /\ check_masked C (masked_orbit z m).
Proof.
move=> /check_maskedP S /andP[/eqP fx /forallP H] m mN.
have aE := alphaE gE; have g1 := g_lt1 g_gt0 alpha_gt0 gE.
have same y : (forall i, masked y i = C i) -> masked_layer y = step (target C) g y.
  by move=> Sy; rewrite /masked_layer /step; congr (_ + _ *: _); apply/ffunP => i; rewrite !ffunE Sy.
have st := @form_stays R V I _ (targetD C) (targetZ C) g alpha aE masked_layer masked C L z m same S fx.
have [|E A] := st _ m (leqnn m); last first.
  by rewrite /masked_orbit E; split=> //; apply/check_maskedP.
move=> k km _ i; have /exists_inP[c cC /andP[/forall_inP tie /forall_inP out]] := H i.
have kN : within N k.+1 by rewrite /within /=; case: N mN {H out} => //= n; apply: leq_trans.
have leadE j m' : lead B (form C L z m') i j c = lead_at g m' (masked_rows C L z i j c).
  by rewrite lead_of_sound lead_terms.
have BB (u x y : V) : B u (x - y) = B u x - B u y by rewrite BDr -scaleN1r BZr mulN1r.
apply: (maskedP cC) => [|j jC|j jm jC].
- by apply/subsetP => j; rewrite -S inE => /andP[].
- by apply/eqP; rewrite -subr_eq0 -BB -/(lead _ _ _ _ _) leadE (eqP (tie j jC)) /lead_at big_nil.
rewrite -subr_lt0 -BB -/(lead _ _ _ _ _) leadE.
have now : lead_at g 0 (masked_rows C L z i j c) < 0.
  by rewrite -leadE form0 /lead BB subr_lt0; apply: masked_lt; rewrite // S.
have deg : degree (masked_rows C L z i j c) by apply/degree_lead_of/degree_terms.
have /implyP/(_ jC)/orP[sure|neg] := out j jm; first exact: (doubtful_sound g_gt0 g1 _ deg now sure).
exact: (is_negative_sound g_gt0 g1 deg now neg).
Qed.

(* one layer after the other, or a jump *)
Variable entries : seq (nat * sets).
Notation sets_at := (sets_at entries).
Inductive masked_walk z : nat -> cloud -> Prop :=
| MaskedStart : masked_walk z 0 z
| MaskedOne k y : masked_walk z k y -> check_masked (sets_at k) y ->
    masked_walk z k.+1 (step (target (sets_at k)) g y)
| MaskedJump fuel k y L N : masked_walk z k y -> check_masked (sets_at k) y ->
    masked_stay fuel (sets_at k) L y (Some N) -> (forall m, (m <= N)%N -> sets_at (k + m) = sets_at k) ->
    masked_walk z (k + N.+1) (form (sets_at k) L y N.+1).
Definition masked_accepted z K L y := exists fuel, [/\ masked_walk z K y, check_masked (sets_at K) y,
  masked_stay fuel (sets_at K) L y None & all (fun e => (e.1 <= K)%N) entries].

Lemma masked_orbitD z k m : masked_orbit z (k + m) = masked_orbit (masked_orbit z k) m.
Proof. by rewrite addnC /masked_orbit iterD. Qed.

Lemma masked_step C y : check_masked C y -> masked_layer y = step (target C) g y.
Proof.
move/check_maskedP => S; rewrite /masked_layer /step; congr (_ + _ *: _); apply/ffunP => i.
by rewrite !ffunE S.
Qed.

Lemma masked_walk_sound z k y : masked_walk z k y ->
  masked_orbit z k = y /\ forall m, (m < k)%N -> check_masked (sets_at m) (masked_orbit z m).
Proof.
elim=> {k y} [//|k y _ [E S] A|fuel k y L N _ [E S] A st same].
  split; first by rewrite /masked_orbit /= -/(masked_orbit z k) E; apply: masked_step.
  by move=> m; rewrite ltnS leq_eqVlt => /orP[/eqP ->|/S //]; rewrite E.
have on m : (m <= N)%N -> masked_orbit z (k + m) = form (sets_at k) L y m /\
    check_masked (sets_at k) (masked_orbit z (k + m)).
  by move=> mN; rewrite masked_orbitD E; apply: (masked_stay_sound A st).
split=> [|m mk].
  have [e a] := on N (leqnn N); rewrite addnS /masked_orbit /= -/(masked_orbit z (k + N)) (masked_step a) e.
  by rewrite (formS (targetD _) (targetZ _) (alphaE gE)) //; case/andP: st => /eqP.
case: (ltnP m k) => km; first exact: S.
have mN : (m - k <= N)%N by rewrite leq_subLR -ltnS -addnS.
by rewrite -(subnKC km) same //; have [] := on _ mN.
Qed.

(* Masks and value matrices a P: the sets are those of the entries at every layer, and every token moves along the
   form to its constant part. *)
Theorem masked_sound z K L y : masked_accepted z K L y ->
  [/\ forall k i, masked (masked_orbit z k) i = sets_at k i,
      forall m, masked_orbit z (K + m) = form (sets_at K) L y m &
      forall i, tends_to (fun m => masked_orbit z m i) (iter L (target (sets_at K)) y i)].
Proof.
case=> fuel [/masked_walk_sound[E S] A st upto].
have on m : masked_orbit z (K + m) = form (sets_at K) L y m /\ check_masked (sets_at K) (masked_orbit z (K + m)).
  by rewrite masked_orbitD E; apply: (masked_stay_sound A st).
split=> [k i|m|i]; last 1 first.
- by apply: (form_tends g_gt0 alpha_gt0 gE (K := K)) => m; rewrite (proj1 (on m)).
- case: (ltnP k K) => kK; first by apply/check_maskedP/S.
  have all_in n : (K <= n)%N -> [seq e <- entries | (e.1 <= n)%N] = entries.
    by move=> Kn; apply/all_filterP; apply: sub_all upto => e /leq_trans; apply.
  have <- : sets_at K = sets_at k by rewrite /Accepted.sets_at !all_in.
  by apply/check_maskedP; rewrite -(subnKC kK); have [] := on (k - K)%N.
by have [] := on m.
Qed.
End Layers.

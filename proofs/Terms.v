(* The leads that the checker looks at (`rows`): sums of terms a g^(r m) C(m, k), r = 0, 1, 2. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Require Import Hardmax Leads.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Terms.
Variables (R : realFieldType) (V : lmodType R) (B : V -> V -> R).
Hypothesis BDl : forall x y u, B (x + y) u = B x u + B y u.
Hypothesis BZl : forall a x u, B (a *: x) u = a * B x u.
Hypothesis BDr : forall u x y, B u (x + y) = B u x + B u y.
Hypothesis BZr : forall a u x, B u (a *: x) = a * B u x.
Variables (I : finType) (mult : I -> R) (g alpha : R).
Notation cloud := {ffun I -> V}.
Variables (C : I -> {set I}) (L : nat) (z : cloud) (i j c : I).
Notation M := (M mult).
Let w := iter L (M C) z.
Let u k := iter k (M C) z - w.
Let dw := w j - w c.
Let du k := u k j - u k c.

Definition terms0 : seq (term R) := [:: (B (w i) dw, 0%N, 0%N)].
Definition terms1 : seq (term R) :=
  [seq (alpha ^+ k * (B (w i) (du k) + B (u k i) dw), 1%N, k : nat) | k : 'I_L <- index_enum [finType of 'I_L]].
Definition terms2 : seq (term R) :=
  flatten [seq flatten [seq [seq (alpha ^+ a * alpha ^+ b * B (u a i) (du b) * ('C(a + h, a) * 'C(a, b - h))%:R, 2%N, (a + h)%N)
    | h : 'I_b.+1 <- index_enum [finType of 'I_b.+1]] | b : 'I_L <- index_enum [finType of 'I_L]]
    | a : 'I_L <- index_enum [finType of 'I_L]].
Definition terms := terms0 ++ terms1 ++ terms2.

Theorem lead_terms m : lead B (form mult g alpha C L z m) i j c = lead_at g m terms.
Proof.
pose co (k : 'I_L) : R := alpha ^+ k * ('C(m, k))%:R.
have FE l : form mult g alpha C L z m l = w l + g ^+ m *: \sum_(k < L) co k *: u k l.
  rewrite /form -/w ffunE; congr (_ + _); rewrite ffunE sum_ffunE; congr (_ *: _).
  by apply: eq_bigr => k _; rewrite ffunE /co mulr_natr.
rewrite /lead !FE.
have -> : w j + g ^+ m *: (\sum_(k < L) co k *: u k j) - (w c + g ^+ m *: (\sum_(k < L) co k *: u k c))
   = dw + g ^+ m *: \sum_(k < L) co k *: du k.
  rewrite opprD addrACA -scalerBr -sumrB; congr (_ + _ *: _); apply: eq_bigr => k _.
  by rewrite -scalerBr.
rewrite BDl !(BDr _ dw) !(BZl (g ^+ m)) !(BZr (g ^+ m)) /lead_at /terms !big_cat /= big_seq1 /terms1 big_map /terms2 big_flatten big_map.
rewrite /val /= mul0n expr0 mulr1 bin0 mulr1 -!addrA; congr (_ + _).
rewrite !(Bsuml BDl BZl) (Bsumr BDr BZr) addrA; congr (_ + _).
  rewrite !mulr_sumr -big_split /=; apply: eq_bigr => k _; rewrite BZr BZl /co mul1n; ring.
rewrite !mulr_sumr; apply: eq_bigr => a _.
rewrite BZl (Bsumr BDr BZr) big_flatten big_map !mulr_sumr; apply: eq_bigr => b _.
rewrite BZr big_map /co.
transitivity (alpha ^+ a * alpha ^+ b * B (u a i) (du b) * (g ^+ m * g ^+ m) * ('C(m, a) * 'C(m, b))%:R).
  rewrite natrM; move: (B _ _) ('C(m, a))%:R ('C(m, b))%:R (g ^+ m) (alpha ^+ a) (alpha ^+ b) => x1 x2 x3 x4 x5 x6.
  ring.
rewrite bin_product natr_sum mulr_sumr; apply: eq_bigr => h _.
rewrite [in LHS]natrM [in X in _ = X]mul2n -addnn exprD.
move: (B _ _) ('C(a + h, a) * 'C(a, b - h))%:R ('C(m, a + h))%:R (g ^+ m) (alpha ^+ a) (alpha ^+ b) => x1 x2 x3 x4 x5 x6.
rewrite /=; ring.
Qed.
End Terms.

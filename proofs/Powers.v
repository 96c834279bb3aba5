(* Signs of sums of c g^e without long powers of g = p / q: `power`, `is_zero`, `sign`. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Powers.
Variables (R : realFieldType) (p q : nat).
Hypotheses (p_gt0 : (0 < p)%N) (q_gt0 : (0 < q)%N).
Definition g : R := p%:R / q%:R.

Lemma q0 : 0 < q%:R :> R. Proof. by rewrite ltr0n. Qed.
Lemma g_gt0 : 0 < g. Proof. by rewrite divr_gt0 // ltr0n. Qed.

(* ---- `power`: g^n 2^bits, rounded down and up, from the binary digits of n ---- *)
Definition ceil a b := ((a + b.-1) %/ b)%N.
Definition square bits (x : nat * nat) := ((x.1 * x.1) %/ 2 ^ bits, ceil (x.2 * x.2) (2 ^ bits))%N.
Definition times_g (x : nat * nat) := ((x.1 * p) %/ q, ceil (x.2 * p) q)%N.
Definition digit bits x (one : bool) := if one then times_g (square bits x) else square bits x.
Definition power bits (digits : seq bool) := foldl (digit bits) (2 ^ bits, 2 ^ bits)%N digits.
Definition number (digits : seq bool) := foldl (fun n (one : bool) => n.*2 + one)%N 0%N digits.

Lemma floor_le a b : (0 < b)%N -> (a %/ b)%N%:R <= a%:R / b%:R :> R.
Proof. by move=> b0; rewrite ler_pdivl_mulr ?ltr0n // -natrM ler_nat leq_trunc_div. Qed.
Lemma ceil_ge a b : (0 < b)%N -> a%:R / b%:R <= (ceil a b)%:R :> R.
Proof.
move=> b0; rewrite ler_pdivr_mulr ?ltr0n // -natrM ler_nat -ltnS -(ltn_add2r b.-1) addSnnS prednK //.
by rewrite mulnC [X in (_ < X)%N]addnC -mulnS mulnC -ltn_divLR.
Qed.

Definition encloses bits (x : nat * nat) (y : R) := x.1%:R <= y * (2 ^ bits)%:R <= x.2%:R.

Lemma square_ok bits x y : 0 <= y -> encloses bits x y -> encloses bits (square bits x) (y ^+ 2).
Proof.
move=> y0 /andP[lo hi]; have b0 : (0 < 2 ^ bits)%N by rewrite expn_gt0.
have bR : 0 < (2 ^ bits)%:R :> R by rewrite ltr0n.
have E : y ^+ 2 * (2 ^ bits)%:R = (y * (2 ^ bits)%:R) ^+ 2 / (2 ^ bits)%:R.
  by rewrite exprMn expr2 [X in _ * X / _]expr2 !mulrA mulfK ?gt_eqF.
apply/andP; split; rewrite E.
  apply: (le_trans (floor_le _ b0)); rewrite ler_pmul2r ?invr_gt0 // natrM -expr2.
  by rewrite ler_sqr ?nnegrE ?ler0n // mulr_ge0 ?ler0n.
apply: le_trans (ceil_ge _ b0); rewrite ler_pmul2r ?invr_gt0 // natrM -expr2.
by rewrite ler_sqr ?nnegrE ?ler0n // mulr_ge0 ?ler0n.
Qed.

Lemma times_ok bits x y : encloses bits x y -> encloses bits (times_g x) (y * g).
Proof.
move=> /andP[lo hi]; have pR : 0 < p%:R :> R by rewrite ltr0n.
have E : y * g * (2 ^ bits)%:R = y * (2 ^ bits)%:R * p%:R / q%:R by rewrite /g; ring.
apply/andP; split; rewrite E.
  by apply: (le_trans (floor_le _ q_gt0)); rewrite ler_pmul2r ?invr_gt0 ?q0 // natrM ler_pmul2r.
by apply: le_trans (ceil_ge _ q_gt0); rewrite ler_pmul2r ?invr_gt0 ?q0 // natrM ler_pmul2r.
Qed.

(* Squares and products, rounded down and up, enclose the power (`power`). *)
Theorem power_sound bits digits : encloses bits (power bits digits) (g ^+ number digits).
Proof.
suff go x n : encloses bits x (g ^+ n) -> encloses bits (foldl (digit bits) x digits)
    (g ^+ foldl (fun n (one : bool) => n.*2 + one)%N n digits).
  by apply: go; rewrite /encloses expr0 mul1r lexx.
elim: digits x n => [//|one digits IH] x n h /=; apply: IH.
have {h} h : encloses bits (square bits x) (g ^+ n.*2).
  by rewrite -mul2n mulnC exprM; apply: square_ok h; rewrite exprn_ge0 // ltW // g_gt0.
by case: one; rewrite /= ?addn0 // addn1 exprSr; apply: times_ok.
Qed.

(* ---- sums of c g^e ---- *)
Notation sum := (seq (nat * int)).
Definition value (s : sum) : R := \sum_(x <- s) x.2%:~R * g ^+ x.1.

(* the last terms, which are listed first here, are made one: c g^e = (c / q^gap) p^gap g^f *)
Fixpoint is_zero e (c : int) (before : sum) : bool :=
  if before is (f, more) :: rest then
    [&& (f <= e)%N, (Posz (q ^ (e - f)) %| c)%Z &
        is_zero f (more + (c %/ Posz (q ^ (e - f)))%Z * Posz (p ^ (e - f))) rest]
  else c == 0.

(* What `is_zero` accepts is 0. (If it refused too much, `sign` would not end; but it would say nothing wrong.) *)
Theorem is_zero_sound e c before : is_zero e c before -> value ((e, c) :: before) = 0.
Proof.
elim: before e c => [|[f more] rest IH] e c /=; first by move/eqP ->; rewrite /value big_seq1 /= mul0r.
case/and3P=> fe dv /IH h; rewrite -[RHS]h /value !big_cons /= addrA; congr (_ + _).
rewrite intrD intrM mulrDl addrC; congr (_ + _); rewrite -[in LHS](divzK dv) intrM -!mulrA; congr (_ * _).
have -> : g ^+ e = g ^+ (e - f) * g ^+ f by rewrite -exprD subnK.
rewrite mulrA; congr (_ * _); rewrite /g expr_div_n -!pmulrn !natrX mulrC divfK //.
by rewrite gt_eqF // exprn_gt0 // q0.
Qed.

(* what `sign` adds up: the smaller and the larger end of each term, over g^e0 *)
Definition ends bits (digits : nat -> seq bool) e0 (x : nat * int) : int * int :=
  let y := power bits (digits (x.1 - e0)%N) in (x.2 * Posz y.1, x.2 * Posz y.2).
Definition lower (x : int * int) := Order.min x.1 x.2.
Definition upper (x : int * int) := Order.max x.1 x.2.
Definition low bits digits e0 (s : sum) := \sum_(x <- s) lower (ends bits digits e0 x).
Definition high bits digits e0 (s : sum) := \sum_(x <- s) upper (ends bits digits e0 x).

(* the binary digits of an exponent *)
Variable digits : nat -> seq bool.
Hypothesis digitsP : forall n, number (digits n) = n.

Lemma enclosed bits e0 (s : sum) : all (fun x => (e0 <= x.1)%N) s ->
  (low bits digits e0 s)%:~R * g ^+ e0 <= value s * (2 ^ bits)%:R <= (high bits digits e0 s)%:~R * g ^+ e0.
Proof.
have g0 := exprn_gt0 e0 g_gt0.
elim: s => [_|[e c] s IH /= /andP[ee /IH /andP[h1 h2]]]; first by rewrite /low /high /value !big_nil !mul0r lexx.
rewrite /low /high /value !big_cons !intrD !mulrDl.
have [y1 y2] := andP (power_sound bits (digits (e - e0)%N)); rewrite digitsP in y1 y2.
have term : (lower (ends bits digits e0 (e, c)))%:~R * g ^+ e0 <= c%:~R * g ^+ e * (2 ^ bits)%:R
    <= (upper (ends bits digits e0 (e, c)))%:~R * g ^+ e0.
  have -> : c%:~R * g ^+ e * (2 ^ bits)%:R = c%:~R * (g ^+ (e - e0) * (2 ^ bits)%:R) * g ^+ e0.
    by rewrite -{1}(subnK ee) exprD; ring.
  rewrite !ler_pmul2r // /lower /upper /ends /=.
  set a := c * _; set b := c * _; set y := g ^+ _ * _ in y1 y2 *.
  have aE : a%:~R = c%:~R * (power bits (digits (e - e0))).1%:R :> R by rewrite /a intrM.
  have bE : b%:~R = c%:~R * (power bits (digits (e - e0))).2%:R :> R by rewrite /b intrM.
  case: (lerP 0 c) => c0.
    have cR : 0 <= c%:~R :> R by rewrite ler0z.
    apply/andP; split.
      by apply: (@le_trans _ _ a%:~R); [rewrite ler_int le_minl lexx | rewrite aE ler_wpmul2l].
    by apply: (@le_trans _ _ b%:~R); [rewrite bE ler_wpmul2l | rewrite ler_int le_maxr lexx orbT].
  have cR : c%:~R <= 0 :> R by rewrite lerz0 ltW.
  apply/andP; split.
    by apply: (@le_trans _ _ b%:~R); [rewrite ler_int le_minl lexx orbT | rewrite bE ler_wnmul2l].
  by apply: (@le_trans _ _ a%:~R); [rewrite aE ler_wnmul2l | rewrite ler_int le_maxr lexx].
by case/andP: term => t1 t2; rewrite !ler_add.
Qed.

(* The sign that `sign` returns is right: `first` are terms whose sum is 0, put aside, and `left` the others. *)
Theorem sign_sound bits (first left : sum) e0 : value first = 0 ->
  all (fun x => (e0 <= x.1)%N) left ->
  [/\ left = [::] -> value (first ++ left) = 0, 0 < low bits digits e0 left -> 0 < value (first ++ left) &
      high bits digits e0 left < 0 -> value (first ++ left) < 0].
Proof.
move=> first0 late; have g0 := exprn_gt0 e0 g_gt0.
have b0 : 0 < (2 ^ bits)%:R :> R by rewrite ltr0n expn_gt0.
have -> : value (first ++ left) = value left.
  by rewrite /value big_cat /= -!/(value _) first0 add0r.
have /andP[lo hi] := enclosed bits late; split=> [->|pos|neg]; first by rewrite /value big_nil.
  by rewrite -(pmulr_lgt0 _ b0); apply: lt_le_trans lo; rewrite pmulr_lgt0 // ltr0z.
by rewrite -(pmulr_llt0 _ b0); apply: (le_lt_trans hi); rewrite pmulr_llt0 // ltrz0.
Qed.
End Powers.

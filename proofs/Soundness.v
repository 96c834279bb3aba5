(* What `accepted` implies: from a walk in stretches to the limit. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Require Import Hardmax Leads.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Accepted.
Variables (R : archiFieldType) (V : lmodType R) (B : V -> V -> R).
Hypothesis BDl : forall x y u, B (x + y) u = B x u + B y u.
Hypothesis BZl : forall a x u, B (a *: x) u = a * B x u.
Hypothesis BDr : forall u x y, B u (x + y) = B u x + B u y.
Hypothesis BZr : forall a u x, B u (a *: x) = a * B u x.
Variables (I : finType) (mult : I -> R).
Hypothesis mult_gt0 : forall i, 0 < mult i.
Variables (g alpha : R).
Hypotheses (g_gt0 : 0 < g) (alpha_gt0 : 0 < alpha) (gE : g * (1 + alpha) = 1).
Notation cloud := {ffun I -> V}.
Notation layer := (layer B mult g).
Notation orbit := (orbit B mult g).
Notation attended := (attended B).
Notation M := (M mult).
Notation form := (form mult g alpha).

Lemma g_lt1 : g < 1.
Proof. by rewrite -gE ltr_pmulr // ltr_addl. Qed.
Lemma alphaE : 1 - g = alpha * g.
Proof. by rewrite -gE; ring. Qed.

(* the test that `stay` makes of one entry: N layers more (Some N) or for ever (None) *)
Definition within (N : option nat) (m : nat) := (0 < m)%N && (if N is Some n then (m <= n)%N else true).
Definition stay_ok (C : I -> {set I}) L (z : cloud) N :=
  M C (iter L (M C) z) = iter L (M C) z /\
  forall i, follows C i \/ exists2 c, c \in C i &
     (forall m j, within N m -> j \in C i -> lead B (form C L z m) i j c = 0) /\
     (forall m j, within N m -> j \notin C i -> lead B (form C L z m) i j c < 0).

(* the walk of the checker: one layer, or a jump over which the sets provably stay *)
Inductive walk (z : cloud) : nat -> cloud -> Prop :=
| Start : walk z 0 z
| One k y C : walk z k y -> (forall i, attended y i = C i) -> walk z k.+1 (layer_with mult g C y)
| Jump k y C L N : walk z k y -> (forall i, attended y i = C i) -> stay_ok C L y (Some N) ->
    walk z (k + N.+1) (form C L y N.+1).

Lemma layer_sets C (y : cloud) : (forall i, attended y i = C i) -> layer y = layer_with mult g C y.
Proof. by move=> S; apply/ffunP => i; rewrite !ffunE S. Qed.

Theorem walk_sound z k y : walk z k y -> orbit z k = y.
Proof.
elim=> {k y} [//|k y C _ IH S|k y C L N _ IH S [fx H]].
  by rewrite /Hardmax.orbit /= -/(Hardmax.orbit _ _ _ z k) IH; apply: layer_sets.
have E : orbit y N.+1 = form C L y N.+1.
  have st := @sets_stay R V B BDl BZl BDr BZr I mult mult_gt0 g alpha g_gt0 g_lt1 alphaE C L y N S fx.
  have [|e s] := st _ N (leqnn N).
    by move=> i; case: (H i) => [f|[c cS [t o]]]; [left | right; exists c].
  rewrite /Hardmax.orbit /= -/(Hardmax.orbit _ _ _ y N) e.
  rewrite (layer_sets (C := C)); last by move=> i; rewrite -e.
  by rewrite (@formS R V I mult g alpha alphaE C L y N fx).
by rewrite -E -IH /Hardmax.orbit addnC iterD.
Qed.

(* sets on the way of a jump: no change between two entries *)
Theorem jump_sets z k y C L N : walk z k y -> (forall i, attended y i = C i) -> stay_ok C L y (Some N) ->
  forall m, (m <= N)%N -> forall i, attended (orbit z (k + m)) i = C i.
Proof.
move=> w S [fx H] m mN i; rewrite addnC /Hardmax.orbit iterD -/(Hardmax.orbit _ _ _ z k) (walk_sound w).
have st := @sets_stay R V B BDl BZl BDr BZr I mult mult_gt0 g alpha g_gt0 g_lt1 alphaE C L y N S fx.
by have [|_ ->] // := st _ m mN.
Qed.

Definition accepted z K C L (y : cloud) :=
  walk z K y /\ (forall i, attended y i = C i) /\ stay_ok C L y None.

Definition linear_form (phi : V -> R) :=
  (forall x y, phi (x + y) = phi x + phi y) /\ (forall a x, phi (a *: x) = a * phi x).

Lemma sum_to_0 n (a : 'I_n -> R) (e : R) : 0 < e ->
  exists N, forall m, (N <= m)%N -> `|\sum_(k < n) a k * (g ^+ m * ('C(m, k))%:R)| < e.
Proof.
move=> e0; pose b := 1 + \sum_(k < n) `|a k|.
have b0 : 0 < b by rewrite ltr_paddr ?ltr01 // sumr_ge0.
have d0 : 0 < e / b by rewrite divr_gt0.
have [N HN] : exists N, forall (k : 'I_n) m, (N <= m)%N -> g ^+ m * ('C(m, k))%:R < e / b.
  have H (k : 'I_n) := tends_to_0 g_gt0 alpha_gt0 gE k d0.
  have [f Hf] := fin_all_exists H.
  exists (\max_(k < n) f k) => k m mN; apply: Hf; apply: leq_trans mN; exact: leq_bigmax.
exists N => m mN; apply: (le_lt_trans (ler_norm_sum _ _ _)).
apply: (@le_lt_trans _ _ (\sum_(k < n) `|a k| * (e / b))).
  apply: ler_sum => k _; rewrite normrM ler_wpmul2l // ger0_norm; first by apply: ltW; apply: HN.
  by rewrite mulr_ge0 ?ler0n // exprn_ge0 // ltW.
rewrite -mulr_suml mulrCA gtr_pmulr // ltr_pdivr_mulr // mul1r.
by rewrite /b ltr_addr ltr01.
Qed.

(* THE statement: every layer from K on, and the limit, along any coordinate or other linear form *)
Theorem accepted_sound z K C L y : accepted z K C L y ->
  (forall m i, attended (orbit z (K + m)) i = C i) /\
  (forall m, orbit z (K + m) = form C L y m) /\
  forall phi, linear_form phi -> forall i e, 0 < e ->
    exists N, forall m, (N <= m)%N -> `|phi (orbit z (K + m) i) - phi (iter L (M C) y i)| < e.
Proof.
move=> [w [S [fx H]]].
have st := @sets_stay_for_ever R V B BDl BZl BDr BZr I mult mult_gt0 g alpha g_gt0 g_lt1 alphaE C L y S fx.
have {st} st m : orbit z (K + m) = form C L y m /\ forall i, attended (orbit z (K + m)) i = C i.
  rewrite addnC /Hardmax.orbit iterD -/(Hardmax.orbit _ _ _ z K) (walk_sound w); apply: st => i.
  case: (H i) => [f|[c cS [t o]]]; first by left.
  right; exists c; first by [].
  by split=> k j k0; [apply: t | apply: o]; rewrite /within k0.
split; first by move=> m; have [] := st m.
split; first by move=> m; have [] := st m.
move=> phi [phiD phiZ] i e e0.
have phi0 : phi 0 = 0 by rewrite -(scale0r 0) phiZ mul0r.
pose a (k : 'I_L) := alpha ^+ k * phi ((iter k (M C) y - iter L (M C) y) i).
have [N HN] := sum_to_0 a e0; exists N => m mN; rewrite (proj1 (st m)); have := HN m mN.
congr (`|_| < _); rewrite /Hardmax.form.
set w' := iter L _ y; set S' := (X in w' + _ *: X).
have -> : (w' + g ^+ m *: S') i = w' i + g ^+ m *: S' i by rewrite !ffunE.
rewrite phiD phiZ [phi (w' i) + _]addrC addrK /S' sum_ffunE (big_morph phi phiD phi0) mulr_sumr.
apply: eq_bigr => k _; rewrite [X in phi X]ffunE phiZ /a -/w' -[alpha ^+ k *+ _]mulr_natr mulrCA.
by congr (_ * _); rewrite mulrAC.
Qed.

(* `vertex` and leaders: a leader seen on the walk is there for ever *)
Theorem leaders_sound z k y i : walk z k y -> leader B y i -> forall m, orbit z (k + m) i = y i.
Proof.
move=> w l m; rewrite addnC /Hardmax.orbit iterD -/(Hardmax.orbit _ _ _ z k) (walk_sound w).
by have [] := leader_for_ever BDr BZr mult_gt0 g_gt0 g_lt1 l m.
Qed.
End Accepted.

(* Leaders appear only where sets change; leads are sums of terms; rational matrices; the radius. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Require Import Hardmax Leads Soundness.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section More.
Variables (R : realFieldType) (V : lmodType R) (B : V -> V -> R).
Hypothesis BDl : forall x y u, B (x + y) u = B x u + B y u.
Hypothesis BZl : forall a x u, B (a *: x) u = a * B x u.
Hypothesis BDr : forall u x y, B u (x + y) = B u x + B u y.
Hypothesis BZr : forall a u x, B u (a *: x) = a * B u x.
Variables (I : finType) (mult : I -> R).
Hypothesis mult_gt0 : forall i, 0 < mult i.
Variables (g alpha : R).
Hypotheses (g_gt0 : 0 < g) (g_lt1 : g < 1).
Notation cloud := {ffun I -> V}.
Notation layer := (layer B mult g).
Notation orbit := (orbit B mult g).
Notation attended := (attended B).
Notation mean := (mean mult).

(* docstring of `walk`: nobody becomes a leader while the sets stay *)
Theorem no_new_leader (z : cloud) i : (forall j, attended (layer z) j = attended z j) ->
  leader B (layer z) i -> leader B z i.
Proof.
move=> same lead; have [c cS] := att_ex B (layer z) i.
have iS : i \in attended (layer z) i.
  by apply/mem_att => l; rewrite -{3}(lead _ cS) att_le.
move=> j jS; rewrite -same in jS; have E := lead _ jS.
have Sj : attended z j = attended z i by rewrite -!same; apply/setP => l; rewrite !inE E.
move: E; rewrite !layerE Sj => /addIr /eqP; rewrite -subr_eq0 -scalerBr scaler_eq0 gt_eqF //=.
by rewrite subr_eq0 => /eqP.
Qed.

(* ---- radius: D is any convex set of moves (a ball); `robust`: what the inequality of statement 6 proves ---- *)
Variable D : V -> Prop.
Hypothesis Dconv : forall (S : {set I}) (x : cloud) c, c \in S -> (forall j, D (x j)) -> D (mean S x).
Hypothesis Dmix : forall x y, D x -> D y -> D (g *: x + (1 - g) *: y).

Definition robust (z : cloud) i := forall x : cloud, (forall j, D (x j)) -> attended (z + x) i = attended z i.

Lemma layer_move (z x : cloud) : (forall i, attended (z + x) i = attended z i) -> (forall j, D (x j)) ->
  exists2 y : cloud, layer (z + x) = layer z + y & forall j, D (y j).
Proof.
move=> S Dx; exists [ffun i => g *: x i + (1 - g) *: mean (attended z i) x].
  apply/ffunP => i; rewrite [RHS]ffunE [X in _ = _ + X]ffunE !layerE S meanD [X in g *: X]ffunE !scalerDr.
  by rewrite addrACA.
by move=> j; rewrite ffunE; apply: Dmix => //; have [c cS] := att_ex B z j; apply: (Dconv cS).
Qed.

(* every point is robust until (and at) the layer at which it follows a leader alone *)
Theorem radius_sound (z x : cloud) :
  (forall j, D (x j)) ->
  (forall m i, robust (orbit z m) i \/ exists2 m', (m' < m)%N & follows (attended (orbit z m')) i) ->
  forall m i, attended (orbit (z + x) m) i = attended (orbit z m) i.
Proof.
move=> Dx H m.
suff : (forall i, attended (orbit (z + x) m) i = attended (orbit z m) i) /\
  exists2 y : cloud, orbit (z + x) m = orbit z m + y & forall j, D (y j) by case.
elim/ltn_ind: m => m IH.
have [y E Dy] : exists2 y : cloud, orbit (z + x) m = orbit z m + y & forall j, D (y j).
  case: m IH => [|m] IH; first by exists x.
  have [S [y E Dy]] := IH m (ltnSn m).
  have [|y' E' Dy'] := @layer_move (orbit z m) y _ Dy; first by move=> i; rewrite -E S.
  by exists y' => //; rewrite /Hardmax.orbit /= -/(Hardmax.orbit _ _ _ (z + x) m) E E'.
split; last by exists y.
move=> i; case: (H m i) => [rob | [m' lt [l [Ci Cl]]]]; first by rewrite E rob.
have keep (v : cloud) : attended v i = [set l] -> attended v l = [set l] ->
    forall n, attended (orbit v n) i = [set l] /\ attended (orbit v n) l = [set l].
  move=> vi vl; elim=> [//|n [a b]].
  by have [a' [b' _]] := follower_stays BDl BZl BDr BZr mult_gt0 g_gt0 g_lt1 a b.
have [S _] := IH m' lt.
rewrite -(subnK (ltnW lt)) /Hardmax.orbit !iterD -!/(Hardmax.orbit _ _ _ _ m').
have [-> _] := keep _ Ci Cl (m - m')%N.
by have [-> _] := keep (orbit (z + x) m') (etrans (S i) Ci) (etrans (S l) Cl) (m - m')%N.
Qed.
End More.

(* not vacuous: rational points, any rational matrix *)
Section Rational.
Variables (d n : nat) (A : 'M[rat]_d).
Definition score (x y : 'rV[rat]_d) : rat := (x *m A^T *m y^T) 0 0.
Lemma sDl x y u : score (x + y) u = score x u + score y u.
Proof. by rewrite /score !mulmxDl mxE. Qed.
Lemma sZl a x u : score (a *: x) u = a * score x u.
Proof. by rewrite /score -!scalemxAl mxE. Qed.
Lemma sDr u x y : score u (x + y) = score u x + score u y.
Proof. by rewrite /score linearD mulmxDr mxE. Qed.
Lemma sZr a u x : score u (a *: x) = a * score u x.
Proof. by rewrite /score linearZ -scalemxAr mxE. Qed.

Variable mult : 'I_n -> rat.
Hypothesis mult_gt0 : forall i, 0 < mult i.
Variables (g alpha : rat).
Hypotheses (g_gt0 : 0 < g) (alpha_gt0 : 0 < alpha) (gE : g * (1 + alpha) = 1).
Definition certificate_sound :=
  @accepted_sound [archiFieldType of rat] [lmodType rat of 'rV[rat]_d] score sDl sZl sDr sZr
    [finType of 'I_n] mult mult_gt0 g alpha g_gt0 alpha_gt0 gE.
(* coordinates are linear forms *)
Lemma coordinate (k : 'I_d) : @linear_form [archiFieldType of rat] [lmodType rat of 'rV[rat]_d] (fun x => x 0 k).
Proof. by split=> *; rewrite mxE. Qed.
End Rational.

(* The radius: how far every token may be moved without any attended set ever changing (`statement_6`). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Require Import Leads Negative Form Hardmax Accepted.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* ---- moves in any convex set D ---- *)
Section Moves.
Variables (R : realFieldType) (V : lmodType R) (B : V -> V -> R).
Hypothesis BDl : forall x y u, B (x + y) u = B x u + B y u.
Hypothesis BZl : forall a x u, B (a *: x) u = a * B x u.
Hypothesis BDr : forall u x y, B u (x + y) = B u x + B u y.
Hypothesis BZr : forall a u x, B u (a *: x) = a * B u x.
Variables (I : finType) (mult : I -> R).
Hypothesis mult_gt0 : forall i, 0 < mult i.
Variables (g : R).
Hypotheses (g_gt0 : 0 < g) (g_lt1 : g < 1).
Notation cloud := {ffun I -> V}.
Notation layer := (layer B mult g).
Notation orbit := (orbit B mult g).
Notation attended := (attended B).
Notation mean := (mean mult).

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

(* If no move changes the set of a token at any layer until it follows a leader, none ever does. *)
Theorem robust_for_ever (z x : cloud) :
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
End Moves.

(* ---- tokens: a point i stands for all tokens t with p t = i ---- *)
Section Tokens.
Variables (R : realFieldType) (V : lmodType R) (B : V -> V -> R).
Variables (I T : finType) (p : T -> I).
Hypothesis onto : forall i, exists t, p t = i.
Variable g : R.
Definition count i : nat := #|[set t | p t == i]|.
Notation mult := (fun i => (count i)%:R : R).
Definition tokens (z : {ffun I -> V}) : {ffun T -> V} := [ffun t => z (p t)].
Notation one := (fun _ : T => 1 : R).

Lemma count_gt0 i : 0 < mult i.
Proof. by rewrite ltr0n card_gt0; apply/set0Pn; have [t E] := onto i; exists t; rewrite inE E. Qed.

Lemma countE i : \sum_(t | p t == i) 1 = mult i.
Proof. by rewrite sumr_const; congr (_%:R); apply: eq_card => t; rewrite !inE. Qed.

Lemma tokens_attended z t : attended B (tokens z) t = p @^-1: attended B z (p t).
Proof.
apply/setP => u; rewrite !inE; apply/forallP/forallP => h i; last by rewrite !ffunE.
by have [l <-] := onto i; have := h l; rewrite !ffunE.
Qed.

Lemma tokens_mean (S : {set I}) z : mean one (p @^-1: S) (tokens z) = mean mult S z.
Proof.
rewrite /mean /weight; congr (_^-1 *: _).
  rewrite (partition_big p (mem S)) /= => [|t]; last by rewrite inE.
  apply: eq_bigr => i iS; rewrite -countE; apply: eq_bigl => t; rewrite inE.
  by case: eqP => [->|]; rewrite ?iS ?andbF.
rewrite (partition_big p (mem S)) /= => [|t]; last by rewrite inE.
apply: eq_bigr => i iS; rewrite -countE scaler_suml; apply: eq_big => t.
  by rewrite inE; case: eqP => [->|]; rewrite ?iS ?andbF.
by case/andP=> _ /eqP E; rewrite ffunE E.
Qed.

(* Tokens at the same point stay together: a layer of tokens is a layer of points counted with multiplicity. *)
Theorem tokens_sound z m : orbit B one g (tokens z) m = tokens (orbit B mult g z m).
Proof.
elim: m => [//|m IH]; rewrite /orbit /= -!/(orbit _ _ _ _ m) IH; apply/ffunP => t.
by rewrite layerE tokens_attended tokens_mean [RHS]ffunE layerE ffunE.
Qed.
End Tokens.

(* ---- lengths ---- *)
Section Lengths.
Variables (R : realFieldType) (d : nat).
Notation V := 'rV[R]_d.
Definition dot (u v : V) : R := \sum_k u 0 k * v 0 k.

Lemma dotC u v : dot u v = dot v u. Proof. by apply: eq_bigr => k _; rewrite mulrC. Qed.
Lemma dotDl u v x : dot (u + v) x = dot u x + dot v x.
Proof. by rewrite /dot -big_split; apply: eq_bigr => k _; rewrite mxE mulrDl. Qed.
Lemma dotZl a u x : dot (a *: u) x = a * dot u x.
Proof. by rewrite /dot mulr_sumr; apply: eq_bigr => k _; rewrite mxE mulrA. Qed.
Lemma dotDr x u v : dot x (u + v) = dot x u + dot x v. Proof. by rewrite dotC dotDl !(dotC x). Qed.
Lemma dotZr a x u : dot x (a *: u) = a * dot x u. Proof. by rewrite dotC dotZl (dotC x). Qed.
Lemma dotNr x u : dot x (- u) = - dot x u. Proof. by rewrite -scaleN1r dotZr mulN1r. Qed.
Lemma dotBr x u v : dot x (u - v) = dot x u - dot x v. Proof. by rewrite dotDr dotNr. Qed.
Lemma dot_ge0 u : 0 <= dot u u. Proof. by apply: sumr_ge0 => k _; rewrite -expr2 sqr_ge0. Qed.
Lemma dot_eq0 u v : dot u u = 0 -> dot u v = 0.
Proof.
move=> u0; apply: big1 => k _; have /psumr_eq0P := u0; move=> /(_ (fun k _ => sqr_ge0 (u 0 k))) /(_ k isT) /eqP.
by rewrite mulf_eq0 orbb => /eqP ->; rewrite mul0r.
Qed.

(* Cauchy and Schwarz. *)
Theorem cauchy_schwarz u v : dot u v ^+ 2 <= dot u u * dot v v.
Proof.
case: (ltrgtP (dot u u) 0) (dot_ge0 u) => // [u0 _|u0 _]; last by rewrite (dot_eq0 v u0) u0 expr2 !mul0r.
rewrite -(ler_pmul2l u0) -subr_ge0; have := dot_ge0 (dot u u *: v - dot u v *: u).
congr (_ <= _); rewrite -scaleNr dotDl !dotDr !dotZl !dotZr (dotC v u); ring.
Qed.

(* n is at least the length of u *)
Definition at_most (u : V) n := 0 <= n /\ dot u u <= n ^+ 2.

Lemma dot_le u v n n' : at_most u n -> at_most v n' -> `|dot u v| <= n * n'.
Proof.
move=> [n0 un] [n0' vn]; rewrite -(ger0_norm (mulr_ge0 n0 n0')) -ler_sqr ?nnegrE ?normr_ge0 //.
rewrite !real_normK ?num_real // exprMn; apply: (le_trans (cauchy_schwarz u v)).
by apply: ler_pmul; rewrite ?dot_ge0.
Qed.

(* `norm_above`: the root of the sum S of squares of integers, over D 2^s, r being the root of S 4^s rounded down *)
Lemma norm_above_ok (S r s D : nat) : (S * 4 ^ s < r.+1 ^ 2)%N -> (0 < D)%N ->
  S%:R / D%:R ^+ 2 <= (r.+1%:R / (2 ^ s * D)%:R) ^+ 2 :> R.
Proof.
move=> h D0; have p2 : 0 < (2 ^ s)%:R :> R by rewrite ltr0n expn_gt0.
have pD : 0 < D%:R :> R by rewrite ltr0n.
rewrite natrM expr_div_n exprMn ler_pdivl_mulr ?mulr_gt0 ?exprn_gt0 //.
rewrite [X in X <= _](_ : _ = (S * 4 ^ s)%:R * (D%:R ^+ 2 / D%:R ^+ 2)); last first.
  have -> : (S * 4 ^ s)%:R = S%:R * (2 ^ s)%:R ^+ 2 :> R by rewrite -natrX -natrM -expnM (mulnC s) expnM.
  by move: S%:R (2 ^ s)%:R (D%:R ^+ 2) (D%:R ^- 2) => x y v q; ring.
by rewrite mulfV ?mulr1 ?gt_eqF ?exprn_gt0 // -natrX ler_nat ltnW.
Qed.
End Lengths.

(* ---- the inequality ---- *)
Section Inequality.
Variables (R : archiFieldType) (d : nat) (A : 'M[R]_d).
Notation V := 'rV[R]_d.
Definition apply_A (x : V) : V := x *m A^T.
Definition score (x y : V) : R := dot (apply_A x) y.
Lemma scoreDl x y u : score (x + y) u = score x u + score y u. Proof. by rewrite /score /apply_A mulmxDl dotDl. Qed.
Lemma scoreZl a x u : score (a *: x) u = a * score x u. Proof. by rewrite /score /apply_A -scalemxAl dotZl. Qed.
Lemma scoreDr u x y : score u (x + y) = score u x + score u y. Proof. exact: dotDr. Qed.
Lemma scoreZr a u x : score u (a *: x) = a * score u x. Proof. exact: dotZr. Qed.

Lemma scoreE x y : score x y = \sum_k \sum_l x 0 l * A k l * y 0 k.
Proof.
apply: eq_bigr => k _; rewrite mxE mulr_suml; apply: eq_bigr => l _.
by rewrite mxE.
Qed.

Lemma score_sym x y : A^T = A -> score x y = dot x (apply_A y).
Proof.
move=> sym; rewrite scoreE exchange_big; apply: eq_bigr => l _; rewrite mxE mulr_sumr; apply: eq_bigr => k _.
by rewrite sym -mulrA [A k l * _]mulrC.
Qed.

(* |A| is at most d times the largest entry *)
Variable largest : R.
Hypothesis largestP : forall k l, `|A k l| <= largest.

Lemma sum_abs (x : V) n : at_most x n -> (\sum_k `|x 0 k|) ^+ 2 <= d%:R * n ^+ 2.
Proof.
case=> _ xn; pose u : V := \row_k `|x 0 k|; pose v : V := \row_k 1.
have -> : \sum_k `|x 0 k| = dot u v by apply: eq_bigr => k _; rewrite !mxE mulr1.
apply: (le_trans (cauchy_schwarz u v)); rewrite mulrC.
have -> : dot v v = d%:R.
  by rewrite /dot (eq_bigr (fun=> 1)) => [|k _]; [rewrite sumr_const card_ord | rewrite !mxE mulr1].
rewrite ler_wpmul2l ?ler0n //; move: xn; congr (_ <= _); apply: eq_bigr => k _.
by rewrite !mxE -!expr2 real_normK ?num_real.
Qed.

Lemma score_le (x y : V) n n' : at_most x n -> at_most y n' -> `|score x y| <= d%:R * largest * (n * n').
Proof.
move=> xn yn; have [n0 _] := xn; have [n0' _] := yn.
have S0 (u : V) : 0 <= \sum_k `|u 0 k| by apply: sumr_ge0 => k _.
apply: (@le_trans _ _ (largest * ((\sum_k `|x 0 k|) * (\sum_k `|y 0 k|)))).
  rewrite scoreE; apply: (le_trans (ler_norm_sum _ _ _)); rewrite mulrCA mulr_sumr mulr_sumr.
  apply: ler_sum => k _; apply: (le_trans (ler_norm_sum _ _ _)); rewrite mulr_suml; apply: ler_sum => l _.
  rewrite !normrM mulrAC [X in X <= _]mulrC.
  rewrite [X in _ <= X](_ : _ = largest * (`|x 0 l| * `|y 0 k|)); last by ring.
  by rewrite mulrC [X in X <= _]mulrC ler_wpmul2r // mulr_ge0.
have [d0|d0] := posnP d.
  have E u : \sum_k `|(u : V) 0 k| = 0.
    by apply: big1 => k _; suff : (k < 0)%N by []; rewrite -[X in (_ < X)%N]d0 ltn_ord.
  by rewrite !E mul0r mulr0 d0 mul0r mul0r.
have l0 : 0 <= largest by apply: le_trans (largestP (Ordinal d0) (Ordinal d0)).
rewrite [X in _ <= X](_ : _ = largest * (d%:R * (n * n'))); last by ring.
rewrite ler_wpmul2l // -ler_sqr ?nnegrE ?mulr_ge0 ?ler0n //.
rewrite exprMn; apply: (le_trans (ler_pmul _ _ (sum_abs xn) (sum_abs yn))); rewrite ?exprn_ge0 //.
by rewrite [X in X <= _](_ : _ = (d%:R * (n * n')) ^+ 2) //; ring.
Qed.

(* a length that is rounded up *)
Variable norm_above : V -> R.
Hypothesis norm_aboveP : forall v, at_most v (norm_above v).

Variables (I T : finType) (p : T -> I).
Hypothesis onto : forall i, exists t, p t = i.
Variable e : R.
Hypothesis e_ge0 : 0 <= e.
Notation count := (count p).

(* the bound b of statement 6: by how much, over e, a lead may change to first order *)
Definition change (y : {ffun I -> V}) i c j :=
  let way := apply_A (y c - y j) in let direction := apply_A (y i) in
  if i == c then norm_above (way + direction) + norm_above direction
  else if (i == j) && [forall k, count k == 1%N] then norm_above (way - direction) + norm_above direction
  else norm_above way + 2%:R * norm_above direction.

Definition check_radius (C : I -> {set I}) (y : {ffun I -> V}) i := (A^T == A) &&
  [exists c, [&& C i == [set c], count c == 1%N & [forall j, (j != c) ==>
    (e * change y i c j + 2%:R * e ^+ 2 * (d%:R * largest) < score (y i) (y c - y j))]]].

Definition ball (x : V) := at_most x e.

Lemma move_le x v n : ball x -> at_most v n -> - (e * n) <= dot x v.
Proof. by move=> xb vn; have := dot_le xb vn; rewrite ler_norml => /andP[]. Qed.

Lemma single c : count c == 1%N -> exists2 t, p t = c & p @^-1: [set c] = [set t].
Proof.
have -> : count c = #|p @^-1: [set c]| by apply: eq_card => t; rewrite !inE.
case/cards1P=> t E; exists t => //; have : t \in p @^-1: [set c] by rewrite E set11.
by rewrite !inE => /eqP.
Qed.

(* The inequality of the checker proves that no move of tokens by e or less changes the set of a point. *)
Theorem check_radius_sound C y t : check_attended score C y -> check_radius C y (p t) ->
  robust score ball (tokens p y) t.
Proof.
move=> /check_attendedP S /andP[/eqP sym /existsP[c /and3P[/eqP Ci one /forallP ineq]]] x xb.
have [tc ptc tcE] := single one.
rewrite tokens_attended // S Ci tcE; apply: (attP (c := tc)); rewrite ?set11 // => u; first by move/set1P ->.
move=> ne; have pu : p u != c by apply: contra ne => /eqP E; rewrite -tcE !inE E.
have /implyP/(_ pu) := ineq (p u).
rewrite !ffunE ptc; set i := p t; set j := p u.
move=> lt; rewrite -subr_gt0 -dotBr -/(score _ _).
have -> : y c + x tc - (y j + x u) = (y c - y j) + (x tc - x u) by rewrite opprD addrACA.
rewrite scoreDl !(scoreDr _ (y c - y j)).
have quad : - (2%:R * e ^+ 2 * (d%:R * largest)) <= score (x t) (x tc - x u).
  have := score_le (xb t) (xb tc); have := score_le (xb t) (xb u); rewrite !ler_norml => /andP[_ h1] /andP[h2 _].
  rewrite /score dotBr -!/(score _ _); have := ler_sub h2 h1; congr (_ <= _); ring.
have lin : - (e * change y i c j) <= score (y i) (x tc - x u) + score (x t) (y c - y j).
  rewrite (score_sym (x t)) // /score -/apply_A dotC /change; set way := apply_A _; set dir := apply_A _.
  have minus v : at_most dir v -> - (e * v) <= - dot (x u) dir.
    by move=> h; have := dot_le (xb u) h; rewrite ler_norml ler_opp2 => /andP[].
  case: eqP => [ic|_].
    have tt : t = tc by apply/set1P; rewrite -tcE !inE -/i ic.
    rewrite dotC dotBr (dotC dir) (dotC dir) -tt.
    have := ler_add (move_le (xb t) (norm_aboveP (way + dir))) (minus _ (norm_aboveP dir)).
    by rewrite dotDr; congr (_ <= _); ring.
  case: ifP => [/andP[/eqP ij /forallP all1]|_].
    have [ti pti tiE] := single (all1 i).
    have tu : t = u.
      have -> : t = ti by apply/set1P; rewrite -tiE !inE.
      by apply/esym/set1P; rewrite -tiE !inE -/j ij.
    rewrite dotC dotBr (dotC dir) (dotC dir) -tu.
    have := ler_add (move_le (xb t) (norm_aboveP (way - dir))) (move_le (xb tc) (norm_aboveP dir)).
    by rewrite dotBr; congr (_ <= _); ring.
  rewrite dotC dotBr (dotC dir) (dotC dir).
  have := ler_add (ler_add (move_le (xb tc) (norm_aboveP dir)) (minus _ (norm_aboveP dir)))
                  (move_le (xb t) (norm_aboveP way)).
  by congr (_ <= _); ring.
by have := ltr_le_add lt (ler_add lin quad); rewrite -opprD addrN !addrA.
Qed.

Lemma ball_dot x y : ball x -> ball y -> dot x y <= e ^+ 2.
Proof. by move=> xb yb; have := dot_le xb yb; rewrite -expr2 ler_norml => /andP[]. Qed.

Lemma ball_mean (S : {set T}) (x : {ffun T -> V}) c : c \in S -> (forall t, ball (x t)) ->
  ball (mean (fun=> 1) S x).
Proof.
move=> cS xb; split=> //; rewrite /mean dotZl dotZr.
have W0 : 0 < weight (fun=> 1 : R) S by apply: (weight_gt0 (fun=> ltr01) cS).
set W := weight _ S in W0 *; rewrite mulrA -[X in X * _ <= _]invfM mulrC ler_pdivr_mulr ?mulr_gt0 //.
have dot_sum (u : V) : dot u (\sum_(t in S) 1 *: x t) = \sum_(t in S) dot u (x t).
  rewrite (big_morph (dot u) (dotDr u) (_ : dot u 0 = 0)) //; last by rewrite -(scale0r 0) dotZr mul0r.
  by apply: eq_bigr => t _; rewrite scale1r.
rewrite dot_sum mulrA {1}/W /weight [X in _ <= X]mulr_sumr; apply: ler_sum => t _.
rewrite mulr1 dotC dot_sum mulrC /W /weight mulr_suml; apply: ler_sum => u _.
by rewrite mul1r ball_dot.
Qed.

Variables (g alpha : R).
Hypotheses (g_gt0 : 0 < g) (alpha_gt0 : 0 < alpha) (gE : g * (1 + alpha) = 1).

Lemma ball_mix x y : ball x -> ball y -> ball (g *: x + (1 - g) *: y).
Proof.
move=> xb yb; split=> //; have [_ xx] := xb; have [_ yy] := yb; have xy := ball_dot xb yb.
have g1 : 0 <= 1 - g by rewrite subr_ge0 ltW // (g_lt1 g_gt0 alpha_gt0 gE).
have g0 := ltW g_gt0; rewrite dotDl !dotDr !dotZl !dotZr (dotC y x).
have -> : e ^+ 2 = g * (g * e ^+ 2) + g * ((1 - g) * e ^+ 2) + ((1 - g) * (g * e ^+ 2) + (1 - g) * ((1 - g) * e ^+ 2)).
  by ring.
by apply: ler_add; apply: ler_add; do 2?[apply: ler_wpmul2l => //].
Qed.

(* Statement 6: if a certificate with a radius e is accepted, then no token, moved by at most e together with
   all others, ever attends to other tokens than said. *)
Theorem radius_sound entries z K leaders limits :
  accepted score (fun i => (count i)%:R) g alpha entries check_radius setT z K leaders limits ->
  forall x : {ffun T -> V}, (forall t, ball (x t)) -> forall m t,
  attended score (orbit score (fun=> 1) g (tokens p z + x) m) t = p @^-1: sets_at entries m (p t).
Proof.
move=> acc x xb m t; have g1 := g_lt1 g_gt0 alpha_gt0 gE.
have known := accepted_radius scoreDl scoreZl scoreDr scoreZr (count_gt0 R onto) g_gt0 alpha_gt0 gE acc.
have one0 (t' : T) : 0 < 1 :> R by apply: ltr01.
have stay := @robust_for_ever R [lmodType R of V] score scoreDl scoreZl scoreDr scoreZr T _ one0 g g_gt0 g1.
rewrite (stay ball ball_mean ball_mix _ _ xb).
  by rewrite tokens_sound // tokens_attended //; have [/check_attendedP ->] := known m.
move=> k u; have [S /(_ (p u) (in_setT _)) [ok|[k' lt /andP[fol ok]]]] := known k.
  by left; rewrite tokens_sound //; apply: check_radius_sound ok.
right; exists k' => //; have [/check_attendedP S' _] := known k'.
have /is_followerP[l [Ci Cl]] := fol; have /andP[_ /existsP[c /and3P[/eqP Ci' one _]]] := ok.
have lc : l = c by apply/set1P; rewrite -Ci' Ci set11.
have [tc ptc tcE] := single one; exists tc.
by rewrite tokens_sound // !tokens_attended // !S' ptc Ci' -lc Cl lc tcE.
Qed.
End Inequality.

(* Where points are while the attended sets stay: `closed_form`; and what leads are then: `rows`. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Require Import Leads Negative.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Form.
Variables (R : realFieldType) (V : lmodType R) (I : finType).
Notation cloud := {ffun I -> V}.
Implicit Types z : cloud.
(* a layer is z -> g z + (1 - g) M z, M linear: the mean over the attended set *)
Variable M : cloud -> cloud.
Hypothesis MD : forall z z', M (z + z') = M z + M z'.
Hypothesis MZ : forall a z, M (a *: z) = a *: M z.
Variables (g alpha : R).
Hypothesis alphaE : 1 - g = alpha * g.        (* g = 1 / (1 + alpha) *)

Definition step z := g *: z + (1 - g) *: M z.

Lemma M0 : M 0 = 0. Proof. by move: (MZ 0 0); rewrite !scale0r. Qed.
Lemma MB z z' : M (z - z') = M z - M z'.
Proof. by rewrite MD -scaleN1r MZ scaleN1r. Qed.
Lemma Msum (J : Type) (r : seq J) P (F : J -> cloud) :
  M (\sum_(j <- r | P j) F j) = \sum_(j <- r | P j) M (F j).
Proof. by apply: (big_morph M) => [x y|]; rewrite ?MD ?M0. Qed.

Definition form L z m : cloud :=
  let w := iter L M z in
  w + g ^+ m *: \sum_(k < L) (alpha ^+ k *+ 'C(m, k)) *: (iter k M z - w).

Lemma form0 L z : form L z 0 = z.
Proof.
rewrite /form expr0 scale1r; case: L => [|L] /=; first by rewrite big_ord0 addr0.
rewrite big_ord_recl bin0 mulr1n expr0 scale1r /= big1 => [|k _]; first by rewrite addr0 addrC subrK.
by rewrite bin0n mulr0n scale0r.
Qed.

Definition bsum (u : nat -> cloud) L m : cloud := \sum_(k < L) (alpha ^+ k *+ 'C(m, k)) *: u k.
Lemma pascal_sum (u : nat -> cloud) L m : u L = 0 ->
  (bsum u L m + alpha *: bsum (fun k => u k.+1) L m)%R = bsum u L m.+1.
Proof.
rewrite /bsum; case: L => [|L] uL; first by rewrite !big_ord0 scaler0 addr0.
rewrite [in RHS]big_ord_recl [in LHS]big_ord_recl /= !bin0 -addrA; congr (_ + _).
rewrite scaler_sumr [X in _ + X]big_ord_recr /= uL !scaler0 addr0 -big_split /=.
apply: eq_bigr => k _; rewrite scalerA -scalerDl /bump /= add1n.
by congr (_ *: _); rewrite binS mulrnDr; congr (_ + _); rewrite exprS mulrnAr.
Qed.

Lemma formS L z m : M (iter L M z) = iter L M z -> step (form L z m) = form L z m.+1.
Proof.
rewrite /form; set w := iter L M z => fix_w; rewrite /step.
pose u k := iter k M z - w.
have Mu k : M (u k) = u k.+1 by rewrite MB fix_w.
have uL : u L = 0 by rewrite /u -/w subrr.
have E1 (x y : cloud) : g *: (w + x) + (1 - g) *: (w + y) = w + (g *: x + (1 - g) *: y).
  by rewrite !scalerDr addrACA -scalerDl; congr (_ + _); rewrite (_ : g + _ = 1) ?scale1r //; ring.
rewrite MD MZ fix_w Msum E1; congr (w + _); rewrite !scalerA exprS alphaE.
rewrite (_ : alpha * g * g ^+ m = g * g ^+ m * alpha); last by ring.
rewrite -[(_ * _ * alpha) *: _]scalerA -scalerDr; congr (_ *: _).
rewrite (eq_bigr (fun k : 'I_L => (alpha ^+ k *+ 'C(m, k)) *: u k)) //.
rewrite [in X in _ + X](eq_bigr (fun k : 'I_L => (alpha ^+ k *+ 'C(m, k)) *: u k.+1)); last first.
  by move=> k _; rewrite MZ -Mu.
rewrite [RHS](eq_bigr (fun k : 'I_L => (alpha ^+ k *+ 'C(m.+1, k)) *: u k)) //.
exact: pascal_sum.
Qed.

(* While the sets stay, the points move along the form (`closed_form`). *)
Theorem closed_form L z m : M (iter L M z) = iter L M z -> iter m step z = form L z m.
Proof. by move=> fx; elim: m => [|m IH]; rewrite ?form0 //= IH formS. Qed.

(* If targets stand still (L = 1), points go straight there, by the factor g in each layer (`closed_form`). *)
Corollary straight z m : M (M z) = M z -> iter m step z = M z + g ^+ m *: (z - M z).
Proof.
move=> fx; rewrite (@closed_form 1) // /form /= big_ord_recl big_ord0 addr0 bin0 expr0.
by rewrite mulr1n scale1r.
Qed.

(* the sets stay if they do from each layer to the next along the form *)
Lemma form_stays (layer : cloud -> cloud) (att : cloud -> I -> {set I}) C L z N :
  (forall y, (forall i, att y i = C i) -> layer y = step y) ->
  (forall i, att z i = C i) -> M (iter L M z) = iter L M z ->
  (forall m, (m < N)%N -> (forall i, att (form L z m) i = C i) -> forall i, att (form L z m.+1) i = C i) ->
  forall m, (m <= N)%N -> iter m layer z = form L z m /\ forall i, att (form L z m) i = C i.
Proof.
move=> stepE S fx next; elim=> [|m IH] mN; first by rewrite form0.
have [E A] := IH (ltnW mN); split; last exact: next.
by rewrite /= E stepE // formS.
Qed.

(* ---- leads: sums of terms a g^(r m) C(m, k), r = 0, 1, 2 ---- *)
Variable B : V -> V -> R.
Hypothesis BDl : forall x y u, B (x + y) u = B x u + B y u.
Hypothesis BZl : forall a x u, B (a *: x) u = a * B x u.
Hypothesis BDr : forall u x y, B u (x + y) = B u x + B u y.
Hypothesis BZr : forall a u x, B u (a *: x) = a * B u x.

Lemma B0r u : B u 0 = 0. Proof. by rewrite -(scale0r 0) BZr mul0r. Qed.
Lemma B0l u : B 0 u = 0. Proof. by rewrite -(scale0r 0) BZl mul0r. Qed.
Lemma Bsumr u (J : Type) (r : seq J) P (F : J -> V) :
  B u (\sum_(j <- r | P j) F j) = \sum_(j <- r | P j) B u (F j).
Proof. by apply: (big_morph (B u)) => [x y|]; rewrite ?BDr ?B0r. Qed.
Lemma Bsuml u (J : Type) (r : seq J) P (F : J -> V) :
  B (\sum_(j <- r | P j) F j) u = \sum_(j <- r | P j) B (F j) u.
Proof. by apply: (big_morph (fun x => B x u)) => [x y|]; rewrite ?BDl ?B0l. Qed.

Definition lead (z : cloud) i j c := B (z i) (z j - z c).

Variables (L : nat) (z : cloud) (i j c : I).
Let w := iter L M z.
Let u k := iter k M z - w.
Let dw := w j - w c.
Let du k := u k j - u k c.

Definition terms0 : seq (term R) := [:: (B (w i) dw, 0%N, 0%N)].
Definition terms1 : seq (term R) :=
  [seq (alpha ^+ k * (B (w i) (du k) + B (u k i) dw), 1%N, k : nat) | k : 'I_L <- index_enum [finType of 'I_L]].
Definition terms2 : seq (term R) :=
  flatten [seq flatten [seq [seq
      (alpha ^+ a * alpha ^+ b * B (u a i) (du b) * ('C(a + h, a) * 'C(a, b - h))%:R, 2%N, (a + h)%N)
    | h : 'I_b.+1 <- index_enum [finType of 'I_b.+1]] | b : 'I_L <- index_enum [finType of 'I_L]]
    | a : 'I_L <- index_enum [finType of 'I_L]].
Definition terms := terms0 ++ terms1 ++ terms2.

Lemma degree_terms : degree terms.
Proof.
apply/allP => x; rewrite !mem_cat => /or3P[|/mapP[k _ ->] //|].
  by rewrite inE => /eqP ->.
by move=> /flatten_mapP[a _ /flatten_mapP[b _ /mapP[h _ ->]]].
Qed.

(* The lead of j over c along the form is a sum of such terms (`rows`). *)
Theorem lead_terms m : lead (form L z m) i j c = lead_at g m terms.
Proof.
pose co (k : 'I_L) : R := alpha ^+ k * ('C(m, k))%:R.
have FE l : form L z m l = w l + g ^+ m *: \sum_(k < L) co k *: u k l.
  rewrite /form -/w ffunE; congr (_ + _); rewrite ffunE sum_ffunE; congr (_ *: _).
  by apply: eq_bigr => k _; rewrite ffunE /co mulr_natr.
rewrite /lead !FE.
have -> : w j + g ^+ m *: (\sum_(k < L) co k *: u k j) - (w c + g ^+ m *: (\sum_(k < L) co k *: u k c))
   = dw + g ^+ m *: \sum_(k < L) co k *: du k.
  rewrite opprD addrACA -scalerBr -sumrB; congr (_ + _ *: _); apply: eq_bigr => k _.
  by rewrite -scalerBr.
rewrite BDl !(BDr _ dw) !(BZl (g ^+ m)) !(BZr (g ^+ m)) /lead_at /terms.
rewrite !big_cat /= big_seq1 /terms1 big_map /terms2 big_flatten big_map.
rewrite /val /= mul0n expr0 mulr1 bin0 mulr1 -!addrA; congr (_ + _).
rewrite !Bsuml Bsumr addrA; congr (_ + _).
  rewrite !mulr_sumr -big_split /=; apply: eq_bigr => k _; rewrite BZr BZl /co mul1n; ring.
rewrite !mulr_sumr; apply: eq_bigr => a _.
rewrite BZl Bsumr big_flatten big_map !mulr_sumr; apply: eq_bigr => b _.
rewrite BZr big_map /co.
transitivity (alpha ^+ a * alpha ^+ b * B (u a i) (du b) * (g ^+ m * g ^+ m) * ('C(m, a) * 'C(m, b))%:R).
  rewrite natrM; move: (B _ _) ('C(m, a))%:R ('C(m, b))%:R (g ^+ m) (alpha ^+ a) (alpha ^+ b) => x1 x2 x3 x4 x5 x6.
  ring.
rewrite bin_product natr_sum mulr_sumr; apply: eq_bigr => h _.
rewrite [in LHS]natrM [in X in _ = X]mul2n -addnn exprD.
move: (B _ _) ('C(a + h, a) * 'C(a, b - h))%:R ('C(m, a + h))%:R (g ^+ m) (alpha ^+ a) (alpha ^+ b).
by move=> x1 x2 x3 x4 x5 x6 /=; ring.
Qed.
End Form.

Section Tends.
Variables (R : archiFieldType) (V : lmodType R) (g alpha : R).
Hypotheses (g_gt0 : 0 < g) (alpha_gt0 : 0 < alpha) (gE : g * (1 + alpha) = 1).

Definition linear_form (phi : V -> R) :=
  (forall x x' : V, phi (x + x') = phi x + phi x') /\ (forall a x, phi (a *: x) = a * phi x).

Lemma sum_to_0 n (a : 'I_n -> R) (e : R) : 0 < e ->
  exists N, forall m, (N <= m)%N -> `|\sum_(k < n) a k * (g ^+ m * ('C(m, k))%:R)| < e.
Proof.
move=> e0; pose b := 1 + \sum_(k < n) `|a k|.
have b0 : 0 < b by rewrite ltr_paddr ?ltr01 // sumr_ge0.
have d0 : 0 < e / b by rewrite divr_gt0.
have [N HN] : exists N, forall (k : 'I_n) m, (N <= m)%N -> g ^+ m * ('C(m, k))%:R < e / b.
  have H (k : 'I_n) := Leads.tends_to_0 g_gt0 alpha_gt0 gE k d0.
  have [f Hf] := fin_all_exists H.
  exists (\max_(k < n) f k) => k m mN; apply: Hf; apply: leq_trans mN; exact: leq_bigmax.
exists N => m mN; apply: (le_lt_trans (ler_norm_sum _ _ _)).
apply: (@le_lt_trans _ _ (\sum_(k < n) `|a k| * (e / b))).
  apply: ler_sum => k _; rewrite normrM ler_wpmul2l // ger0_norm; first by apply: ltW; apply: HN.
  by rewrite mulr_ge0 ?ler0n // exprn_ge0 // ltW.
rewrite -mulr_suml mulrCA gtr_pmulr // ltr_pdivr_mulr // mul1r.
by rewrite /b ltr_addr ltr01.
Qed.


(* a point tends to p along every linear form, so in every coordinate *)
Definition tends_to (path : nat -> V) (p : V) := forall phi, linear_form phi -> forall e, 0 < e ->
  exists N, forall m, (N <= m)%N -> `|phi (path m) - phi p| < e.

(* Points that move along the form tend to its constant part (`is_limit`). *)
Theorem form_tends (I : finType) (M : {ffun I -> V} -> {ffun I -> V}) L y (path : nat -> V) K i :
  (forall m, path (K + m)%N = form M g alpha L y m i) -> tends_to path (iter L M y i).
Proof.
move=> st phi [phiD phiZ] e e0.
have phi0 : phi 0 = 0 by rewrite -(scale0r 0) phiZ mul0r.
pose a (k : 'I_L) := alpha ^+ k * phi ((iter k M y - iter L M y) i).
have [N HN] := sum_to_0 a e0; exists (K + N)%N => m mN.
have mK : (K <= m)%N := leq_trans (leq_addr N K) mN.
rewrite -(subnKC mK) st; have := HN (m - K)%N; rewrite leq_subRL // => /(_ mN).
move: (m - K)%N => {mN mK} m'; congr (`|_| < _); rewrite /form.
set w' := iter L _ y; set S' := (X in w' + _ *: X).
have -> : (w' + g ^+ m' *: S') i = w' i + g ^+ m' *: S' i by rewrite !ffunE.
rewrite phiD phiZ [phi (w' i) + _]addrC addrK /S' sum_ffunE (big_morph phi phiD phi0) mulr_sumr.
apply: eq_bigr => k _; rewrite [X in phi X]ffunE phiZ /a -/w' -[alpha ^+ k *+ _]mulr_natr mulrCA.
by congr (_ * _); rewrite mulrAC.
Qed.
End Tends.

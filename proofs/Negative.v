(* The decision of the checker that a lead stays negative: `lead_of`, `doubtful`, `is_negative`. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Require Import Leads.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Negative.
Variables (R : realFieldType) (g : R).
Hypotheses (g_gt0 : 0 < g) (g_lt1 : g < 1).
Notation term := (term R).
Notation val := (val g).
Notation lead_at := (lead_at g).
Implicit Types (s : seq term) (x : term).

(* m = 1, 2, ..., N, or all m > 0: the layers that `statement_4` is asked for *)
Definition within (N : option nat) (m : nat) := (0 < m)%N && (if N is Some n then (m <= n)%N else true).

(* ---- `lead_of`: one coefficient for each (r, k), and none that is 0 ---- *)
Definition key x := (x.1.2, x.2).
Definition coefficient s rk : R := \sum_(x <- s | key x == rk) x.1.1.
Definition lead_of s : seq term :=
  [seq x <- [seq (coefficient s rk, rk.1, rk.2) | rk <- undup (map key s)] | x.1.1 != 0].

(* The lead that the checker looks at is the lead: collecting terms changes no value. *)
Theorem lead_of_sound m s : lead_at m (lead_of s) = lead_at m s.
Proof.
rewrite /lead_at /lead_of big_filter big_mkcond big_map /=.
pose part rk := \sum_(x <- s | key x == rk) val m x.
rewrite (eq_bigr part) => [|rk _]; last first.
  have -> : part rk = val m (coefficient s rk, rk.1, rk.2).
    rewrite /part /val /coefficient /= !mulr_suml; apply: eq_bigr => x /eqP <-.
    by rewrite /key.
  by case: eqP => //= ->; rewrite /val /= !mul0r.
rewrite /part (exchange_big_dep xpredT) //= big_seq [RHS]big_seq; apply: eq_bigr => x xs.
have kx : key x \in undup (map key s) by rewrite mem_undup map_f.
rewrite big_mkcond (bigD1_seq (key x)) ?undup_uniq //= eqxx big1 ?addr0 // => rk ne.
by rewrite eq_sym (negbTE ne).
Qed.

Definition degree s := all (fun x => (x.1.2 < 3)%N) s.

Lemma degree_lead_of s : degree s -> degree (lead_of s).
Proof.
move=> /allP deg; apply/allP => x; rewrite mem_filter => /andP[_ /mapP[rk + ->]] /=.
by rewrite mem_undup => /mapP[y ys ->]; apply: deg.
Qed.

(* ---- the terms without k: a quadratic in t = g^m ---- *)
Definition a s (r : nat) : R := \sum_(x <- s | (x.2 == 0%N) && (x.1.2 == r)) x.1.1.

Lemma lead_split m s : degree s -> lead_at m s =
  a s 0 + a s 1 * g ^+ m + a s 2 * g ^+ m ^+ 2 + \sum_(x <- s | x.2 != 0%N) val m x.
Proof.
move=> deg; rewrite /lead_at (bigID (fun x => x.2 == 0%N)) /=; congr (_ + _).
rewrite -big_filter split_r; last first.
  by apply/allP => x; rewrite mem_filter => /andP[_]; apply: (allP deg).
rewrite !big_filter_cond /a !mulr_suml.
congr (_ + _ + _); apply: eq_bigr => x /andP[/eqP k0 /eqP r0]; rewrite /val k0 r0 bin0 mulr1.
- by rewrite mul0n expr0 mulr1.
- by rewrite mul1n.
by rewrite mulnC exprM.
Qed.

Lemma lead_now s : degree s -> lead_at 0 s = a s 0 + a s 1 + a s 2.
Proof.
move=> deg; rewrite lead_split // expr0 expr1n !mulr1 big1 ?addr0 // => x.
by rewrite /val bin0n => /negbTE ->; rewrite mulr0.
Qed.

Lemma val_le0 m x : x.1.1 <= 0 -> val m x <= 0.
Proof. by move=> h; rewrite /val -mulrA mulr_le0_ge0 // mulr_ge0 ?ler0n // ltW // g_pow_gt0. Qed.

Lemma sum_le0 m s (P : pred term) : (forall x, x \in s -> P x -> x.1.1 <= 0) ->
  \sum_(x <- s | P x) val m x <= 0.
Proof.
move=> h; rewrite big_seq_cond -oppr_ge0 -sumrN sumr_ge0 // => x /andP[xs px].
by rewrite oppr_ge0 val_le0 // h.
Qed.

(* ---- `doubtful`: who needs no further look ---- *)
Definition doubtful s :=
  ~~ [&& a s 0 <= 0, a s 1 + 2%:R * a s 0 <= 0 & all (fun x => (x.2 != 0%N) ==> (x.1.1 <= 0)) s].

(* A lead that is negative now and not doubtful is negative at every layer. *)
Theorem doubtful_sound s m : degree s -> lead_at 0 s < 0 -> ~~ doubtful s -> lead_at m s < 0.
Proof.
move=> deg now; rewrite negbK => /and3P[h0 h1 /allP hk].
rewrite lead_split // ltr_naddr //.
  by apply: sum_le0 => x xs kx; move: (hk x xs); rewrite kx.
rewrite lead_now // in now.
have t0 : 0 < g ^+ m by apply: g_pow_gt0.
have t1 : g ^+ m <= 1 by rewrite exprn_ile1 // ltW.
have := rule_corners t0 t1 h0 h1 now; congr (_ < _); ring.
Qed.

(* ---- `is_negative` and the two rules for ranges of layers ---- *)
Definition is_negative_between first last s :=
  let h r := coef first last r s in let t1 := g ^+ last in let t2 := g ^+ first in
  [&& h 0%N + h 1%N * t1 + h 2%N * t1 ^+ 2 < 0, h 0%N + h 1%N * t2 + h 2%N * t2 ^+ 2 < 0 &
      (h 0%N + h 0%N) + h 1%N * (t1 + t2) + (h 2%N + h 2%N) * (t1 * t2) < 0].

(* Three negative coefficients prove a range of layers. *)
Theorem is_negative_between_sound first last s : degree s -> is_negative_between first last s ->
  forall m, (first <= m <= last)%N -> lead_at m s < 0.
Proof.
move=> deg /and3P[p1 p2 p3] m mm; have /andP[m1 m2] := mm.
case: (ltngtP first last) => [lt|gt|E].
- exact: (rule_range g_gt0 g_lt1 lt deg p1 p2 p3 mm).
- by move: (leq_trans m1 m2); rewrite leqNgt gt.
have {m1 m2} E' : m = last by apply/eqP; rewrite eqn_leq m2 -E m1.
move: p1; rewrite {mm}E' E /lead_at (split_r _ deg) /coef !mulr_suml; congr (_ < _).
by congr (_ + _ + _); apply: eq_bigr => x /eqP r; rewrite /size_on if_same /val r;
   rewrite ?mul0n ?mul1n ?expr0 ?mulr1 // 1?mulnC ?exprM mulrAC.
Qed.

Definition is_negative_from first s :=
  has (fun main => (main.1.1 < 0) &&
    all (fun x => pos x ==> (main.1.2 <= x.1.2)%N &&
      (g ^+ (x.1.2 - main.1.2) * (first.+1%:R - main.2%:R) <= first.+1%:R - x.2%:R)) s &&
    (val first main + \sum_(x <- s | pos x) val first x < 0)) s.

(* One negative term on which no positive one gains, and outweighs them all, proves all later layers. *)
Theorem is_negative_from_sound first s : is_negative_from first s ->
  forall m, (first <= m)%N -> lead_at m s < 0.
Proof.
move=> /hasP[[[a0 r0] k0] ms /andP[/andP[/= a0n /allP gn] neg]] m mm.
have E m' : lead_at m' s = lead_at m' ((a0, r0, k0) :: rem (a0, r0, k0) s).
  by rewrite /lead_at; apply: perm_big; apply: perm_to_rem.
rewrite E; apply: (rule_tail g_gt0 g_lt1 a0n) mm.
  by move=> x /mem_rem xs px; move: (gn x xs); rewrite px => /andP[].
have np : pos (a0, r0, k0) = false by apply/negbTE; rewrite /pos /= -leNgt ltW.
by move: neg; rewrite (big_rem _ ms) /= np; rewrite [0 + _]add0r.
Qed.

(* the loop over ranges; fuel bounds it, as the budget does in the program *)
Fixpoint cover fuel s (ranges : seq (nat * option nat)) : bool :=
  if ranges is (first, last) :: rest then
    if fuel is n.+1 then
      match last with
      | None => if is_negative_from first s then cover n s rest
                else cover n s [:: (first, Some first.*2), (first.*2.+1, None) & rest]
      | Some l =>
          if is_negative_between first l s then cover n s rest else
          let middle := minn first.*2 (first + l)./2 in
          (first != l) && cover n s [:: (first, Some middle), (middle.+1, Some l) & rest]
      end
    else false
  else true.

Definition in_range (range : nat * option nat) m :=
  (range.1 <= m)%N && (if range.2 is Some l then (m <= l)%N else true).

Lemma cover_sound fuel s ranges : degree s -> cover fuel s ranges ->
  forall range, range \in ranges -> forall m, in_range range m -> lead_at m s < 0.
Proof.
move=> deg; elim: fuel ranges => [|n IH] [|[first last] rest] //=.
have split middle : cover n s [:: (first, Some middle), (middle.+1, last) & rest] ->
    forall range, range \in (first, last) :: rest -> forall m, in_range range m -> lead_at m s < 0.
  move=> /IH h range; rewrite inE => /orP[/eqP -> m /andP[/= m1 m2]|rr]; last first.
    by apply: h; rewrite !inE rr !orbT.
  case: (leqP m middle) => mm.
    by apply: (h (first, Some middle)); rewrite ?inE ?eqxx // /in_range /= m1.
  by apply: (h (middle.+1, last)); rewrite ?inE ?eqxx ?orbT // /in_range /= mm.
case: last split => [l|] split.
  case: ifP => [neg /IH h range|_ /andP[_]]; last exact: split.
  rewrite inE => /orP[/eqP -> m|rr]; [exact: is_negative_between_sound | exact: h].
case: ifP => [neg /IH h range|_]; last exact: split.
rewrite inE => /orP[/eqP -> m /andP[/= m1 _]|rr]; [exact: is_negative_from_sound m1 | exact: h].
Qed.

Definition is_straight s := all (fun x => x.2 == 0%N) s.
Definition is_negative fuel s N :=
  [|| all (fun x => x.1.1 <= 0) s,
      is_straight s && ((a s 1 + 2%:R * a s 0) ^+ 2 < 4%:R * a s 0 * (a s 0 + a s 1 + a s 2)) |
      cover fuel s [:: (1%N, N)]].

(* If `is_negative` says so, a lead that is negative now is negative at all layers that were asked for. *)
Theorem is_negative_sound fuel s N : degree s -> lead_at 0 s < 0 -> is_negative fuel s N ->
  forall m, within N m -> lead_at m s < 0.
Proof.
move=> deg now /or3P[/allP neg|/andP[/allP str disc]|cov] m; last first.
- by move=> mN; apply: (cover_sound deg cov (mem_head _ _)).
- move=> _; rewrite lead_now // in now; rewrite lead_split // big_seq_cond big1 ?addr0; last first.
    by move=> x /andP[/str ->].
  have t0 : 0 < g ^+ m by apply: g_pow_gt0.
  have := rule_discriminant ((1 - g ^+ m) / g ^+ m) disc now.
  rewrite -(pmulr_rlt0 _ (exprn_gt0 2 t0)); congr (_ < _).
  have := mulfV (lt0r_neq0 t0); move: (g ^+ m)^-1 => q qE; move: {t0} (g ^+ m) qE => t qE.
  rewrite (_ : t ^+ 2 * _ = a s 0 * ((1 - t) * (t * q)) ^+ 2 + (a s 1 + 2%:R * a s 0) * ((1 - t) * (t * q)) * t
     + (a s 0 + a s 1 + a s 2) * t ^+ 2); last by ring.
  by rewrite qE; ring.
move=> _; have g2 : 0 < g ^+ m ^+ 2 by rewrite exprn_gt0 // g_pow_gt0.
move: now; rewrite -(pmulr_rlt0 _ g2) => now; apply: le_lt_trans now.
rewrite /lead_at mulr_sumr big_seq [X in _ <= X]big_seq; apply: ler_sum => x xs.
have h := neg x xs; rewrite {2}/val bin0n; case: eqP => [k0|_]; last first.
  by rewrite mulr0 mulr0; apply: val_le0.
rewrite /val k0 bin0 !mulr1 muln0 expr0 mulr1 [X in _ <= X]mulrC ler_wnmul2l // -exprM mulnC.
rewrite ler_wiexpn2l // ?ltW // leq_mul2r -ltnS (allP deg) ?orbT //.
Qed.
End Negative.

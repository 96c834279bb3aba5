(* What `accepted` implies: from a walk over layers to the limit of every point. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Require Import Leads Negative Form Hardmax.
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
Notation sets := (I -> {set I}).
Notation layer := (layer B mult g).
Notation orbit := (orbit B mult g).
Notation attended := (attended B).
Notation leader := (leader B).
Notation M := (M mult).
Notation form C := (form (M C) g alpha).
Implicit Types (C : sets) (z y w : cloud).

Lemma g_lt1 : g < 1.
Proof. by rewrite -gE ltr_pmulr // ltr_addl. Qed.
Lemma alphaE : 1 - g = alpha * g.
Proof. by rewrite -gE; ring. Qed.

Lemma orbitS z k : orbit z k.+1 = layer (orbit z k). Proof. by []. Qed.
Lemma orbitD z k m : orbit z (k + m) = orbit (orbit z k) m.
Proof. by rewrite addnC /Hardmax.orbit iterD. Qed.

(* ---- the tests of the checker, by the names of its functions ---- *)
Definition check_attended C z := [forall i, attended z i == C i].
Definition is_leader C z i := [forall j in C i, z j == z i].
Definition is_follower C i := [exists l, (C i == [set l]) && (C l == [set l])].

Lemma check_attendedP C z : reflect (forall i, attended z i = C i) (check_attended C z).
Proof. by apply: (iffP forallP) => h i; apply/eqP. Qed.

Lemma is_leaderP C z i : check_attended C z -> reflect (leader z i) (is_leader C z i).
Proof.
move/check_attendedP => S; apply: (iffP forall_inP) => h j.
  by rewrite S => /h /eqP.
by move=> jC; apply/eqP; apply: h; rewrite S.
Qed.

Lemma is_followerP C i : reflect (follows C i) (is_follower C i).
Proof.
apply: (iffP existsP) => [[l /andP[/eqP a /eqP b]]|[l [a b]]]; exists l => //.
by rewrite a b !eqxx.
Qed.

(* the lead of j over c along the form, one coefficient for each (r, k) *)
Definition rows C L z i j c := lead_of (terms (M C) alpha B L z i j c).

Definition stay fuel C L z N :=
  (M C (iter L (M C) z) == iter L (M C) z) &&
  ((L == 0%N) || [forall i, is_follower C i || [exists c in C i,
     [forall j in C i, rows C L z i j c == [::]] &&
     [forall j, (j \notin C i) ==>
        (~~ doubtful (rows C L z i j c) || is_negative g fuel (rows C L z i j c) N)]]]).

Lemma rowsE C L z i j c m :
  lead B (form C L z m) i j c = lead_at g m (rows C L z i j c).
Proof. by rewrite lead_of_sound lead_terms. Qed.

(* The attended sets are the same for N layers more (or for ever), and the points move along the form
   (`statement_4`, `closed_form`). *)
Theorem stay_sound fuel C L z N : check_attended C z -> stay fuel C L z N ->
  forall m, (if N is Some n then (m <= n)%N else true) ->
  orbit z m = form C L z m /\ check_attended C (orbit z m).
Proof.
move=> /check_attendedP S /andP[/eqP fx H] m mN.
have st := @sets_stay R V B BDl BZl BDr BZr I mult mult_gt0 g alpha g_gt0 g_lt1 alphaE C L z m S fx.
have [] // := st _ m (leqnn m); last first.
  by move=> E A; split=> //; apply/check_attendedP.
have ltN k : (0 < k <= m)%N -> within N k.
  by case/andP=> k0 km; rewrite /within k0; case: N mN {H} => //= n; apply: leq_trans.
move=> i; case/orP: H => [/eqP L0|/forallP /(_ i) /orP[/is_followerP f|]]; last first.
- case/exists_inP=> c cC /andP[/forall_inP tie /forallP out]; right; exists c => //; split=> k j km jC.
    by rewrite rowsE (eqP (tie j jC)) /lead_at big_nil.
  have now : lead_at g 0 (rows C L z i j c) < 0.
    rewrite -rowsE form0 /lead (BBr BDr BZr) subr_lt0; apply: att_lt; by rewrite S.
  have deg : degree (rows C L z i j c) by apply/degree_lead_of/degree_terms.
  rewrite rowsE; have /implyP/(_ jC)/orP[sure|neg] := out j.
    exact: (doubtful_sound g_gt0 g_lt1 _ deg now sure).
  by apply: (is_negative_sound g_gt0 g_lt1 deg now neg); apply: ltN.
- by left.
have still k : form C L z k = z by rewrite L0 /Form.form big_ord0 scaler0 addr0.
have [c cC] := att_ex B z i; right; exists c; rewrite -S //; split=> k j _ jC; rewrite still /lead (BBr BDr BZr).
  by rewrite (att_eq cC jC) subrr.
by rewrite subr_lt0 att_lt.
Qed.

(* ---- the walk ---- *)
(* `attended` of the certificate: at which layer which sets begin *)
Variable entries : seq (nat * sets).
Definition sets_at k : sets := last (fun=> set0) [seq e.2 | e <- entries & (e.1 <= k)%N].

(* The sets that are expected at layer k are those of the entry that k falls into. *)
Lemma sets_atE before e after k : entries = before ++ e :: after -> sorted ltn [seq e.1 | e <- entries] ->
  (e.1 <= k)%N -> (if after is next :: _ then (k < next.1)%N else true) -> sets_at k = e.2.
Proof.
rewrite /sets_at => -> sr ek ka; rewrite filter_cat map_cat last_cat /= ek /=.
suff -> : [seq x <- after | (x.1 <= k)%N] = [::] by [].
have drop (s : seq (nat * sets)) : all (fun x => (k < x.1)%N) s -> [seq x <- s | (x.1 <= k)%N] = [::].
  by elim: s => //= x s IH /andP[kx /IH ->]; rewrite leqNgt kx.
move: sr; rewrite map_cat => /cat_sorted2[_]; case: after ka => [//|n after] kn /= /andP[_ sr].
have later : all (fun x => (k < x.1)%N) (n :: after).
  rewrite /= kn; move: sr; rewrite path_sortedE; last exact: ltn_trans.
  by case/andP; rewrite all_map => lt _; apply: sub_all lt => x /=; apply: ltn_trans.
by apply: (drop (n :: after)).
Qed.

(* first layers as a leader, as far as they are known *)
Notation dates := (I -> option nat).
Definition dated k C y (d : dates) : dates :=
  fun i => if d i is Some t then Some t else if is_leader C y i then Some k else None.

(* the test that `statement_6` makes of a point, see Radius.v; and who has yet to follow a leader *)
Variable check_radius : sets -> cloud -> I -> bool.
Variable asked : {set I}.
Definition check_all C y (P : {set I}) := [forall i in P, check_radius C y i].
Definition still_pending C (P : {set I}) := [set i in P | ~~ is_follower C i].

(* `walk`: one layer after the other; or a jump over layers at which the sets stay *)
Inductive walk z : nat -> cloud -> dates -> {set I} -> Prop :=
| Start : walk z 0 z (fun=> None) asked
| One k y d P : walk z k y d P -> check_attended (sets_at k) y -> check_all (sets_at k) y P ->
    walk z k.+1 (layer_with mult g (sets_at k) y) (dated k (sets_at k) y d) (still_pending (sets_at k) P)
| Jump fuel k y d P L N : walk z k y d P -> check_attended (sets_at k) y -> check_all (sets_at k) y P ->
    still_pending (sets_at k) P = set0 -> stay fuel (sets_at k) L y (Some N) ->
    (forall m, (m <= N)%N -> sets_at (k + m) = sets_at k) ->
    walk z (k + N.+1) (form (sets_at k) L y N.+1) (dated k (sets_at k) y d) set0.

(* `limits` of the certificate *)
Inductive limit := Vertex of I | Point of V | Face of {set I} & (I -> R) & V.
Definition furthest w i (S : {set I}) := [set v in S | [forall u in S, B (w i) (w u) <= B (w i) (w v)]].
Definition is_limit (leaders : {set I}) w i (l : limit) :=
  match l with
  | Vertex v => (v \in leaders) && (w v == w i)
  | Point p => w i == p
  | Face F weights p => [&& w i == p, F == furthest w i leaders, [forall v in F, 0 <= weights v],
      \sum_(v in F) weights v == 1 & w i == \sum_(v in F) weights v *: w v]
  end.

Definition listed (d : dates) := [set i | isSome (d i)].

(* what `verify` accepts: the sets last for ever from layer K on, and `leaders` and `limits` are as found *)
Definition accepted z K (leaders : dates) (limits : I -> limit) :=
  exists fuel y d P L, let C := sets_at K in
  [/\ walk z K y d P, check_attended C y /\ all (fun e => (e.1 <= K)%N) entries,
      check_all C y P /\ still_pending C P = set0, stay fuel C L y None &
      leaders =1 dated K C y d /\ forall i, is_limit (listed leaders) (iter L (M C) y) i (limits i)].

(* ---- what the walk has shown at layer k ---- *)
Definition first_leads z i t := leader (orbit z t) i /\ forall t', (t' < t)%N -> ~ leader (orbit z t') i.
Definition dates_true z k (d : dates) := forall i,
  if d i is Some t then (t < k)%N /\ first_leads z i t else forall t, (t < k)%N -> ~ leader (orbit z t) i.
Definition sets_true z k := forall m, (m < k)%N -> check_attended (sets_at m) (orbit z m).
Definition followed z k i := exists2 m, (m < k)%N &
  is_follower (sets_at m) i && check_radius (sets_at m) (orbit z m) i.
Definition radius_true z k := forall m i, (m < k)%N -> i \in asked ->
  check_radius (sets_at m) (orbit z m) i \/ followed z m i.
Definition walked z k y d (P : {set I}) := [/\ orbit z k = y, sets_true z k, dates_true z k d, radius_true z k &
  forall i, i \in asked -> i \notin P -> followed z k i].

Lemma leader_before C y N i : (forall m, (m <= N)%N -> check_attended C (orbit y m)) ->
  forall m, (m <= N)%N -> leader (orbit y m) i -> leader y i.
Proof.
move=> S; elim=> [//|m IH] mN l; apply: IH; first exact: ltnW.
apply: (no_new_leader g_gt0 _ l) => j.
by rewrite (check_attendedP _ _ (S _ mN)) (check_attendedP _ _ (S _ (ltnW mN))).
Qed.

Lemma followed_leq z k k' i : (k <= k')%N -> followed z k i -> followed z k' i.
Proof. by move=> kk [m mk f]; exists m => //; apply: leq_trans kk. Qed.

Lemma walk_step z k y d P n y' : let C := sets_at k in
  walked z k y d P -> check_attended C y -> check_all C y P -> (n = 0%N \/ still_pending C P = set0) ->
  (forall m, (m <= n)%N -> sets_at (k + m) = C /\ check_attended C (orbit z (k + m))) ->
  orbit z (k + n.+1) = y' -> walked z (k + n.+1) y' (dated k C y d) (still_pending C P).
Proof.
move=> C [E S D Rd F] A ch n0 same E'.
have kn : (k < k + n.+1)%N by rewrite addnS ltnS leq_addr.
have later m : (m < k + n.+1)%N -> (m < k)%N \/ exists2 m', (m' <= n)%N & m = (k + m')%N.
  move=> mk; case: (ltnP m k) => km; [by left|right]; exists (m - k)%N; last by rewrite subnKC.
  by rewrite leq_subLR -ltnS -addnS.
have fol i : i \in asked -> i \notin still_pending C P -> followed z k.+1 i.
  move=> ia; case: (boolP (i \in P)) => iP; last by move=> _; apply/(followed_leq (leqnSn k))/F.
  rewrite inE iP negbK => /= f; exists k => //.
  by rewrite E f (forall_inP ch).
split=> //.
- by move=> m /later[/S //|[m' /same[Es At] ->]]; rewrite Es.
- move=> i; rewrite /dated; move: (D i); case: (d i) => [t [tk ft]|nl].
    by split=> //; apply: leq_trans tk (ltnW kn).
  case: is_leaderP => // l; first by split=> //; split=> [|t /nl //]; rewrite E.
  move=> t /later[/nl //|[m mn ->]]; rewrite orbitD E => l'; case: l.
  apply: (@leader_before C y n) l' => // m' /same[_]; by rewrite orbitD E.
- move=> m i /later[mk ia|[[|m'] mn ->] ia]; first exact: Rd.
    rewrite addn0; case: (boolP (i \in P)) => iP; last by right; apply: F.
    by left; rewrite E (forall_inP ch).
  right; case: n0 mn => [-> //|none _]; apply: (@followed_leq z k.+1); first by rewrite addnS ltnS leq_addr.
  by apply: fol => //; rewrite none inE.
by move=> i ia iP; apply: (followed_leq kn); apply: fol.
Qed.

(* Whatever the walk has come to is true: points, sets, first layers of leaders, tests of the radius (`walk`). *)
Theorem walk_sound z k y d P : walk z k y d P -> walked z k y d P.
Proof.
elim=> {k y d P} [|k y d P _ IH A ch|fuel k y d P L N _ IH A ch none st same].
- by split=> // i ->.
- rewrite -addn1; apply: walk_step => //; first by left.
    by case: IH => E _ _ _ _ m; rewrite leqn0 => /eqP ->; rewrite addn0 E.
  case: IH => E _ _ _ _; rewrite addn1 orbitS E; apply/ffunP => i; rewrite !ffunE.
  by rewrite (check_attendedP _ _ A).
have [E _ _ _ _] := IH.
have on m : (m <= N)%N -> orbit z (k + m) = form (sets_at k) L y m /\ check_attended (sets_at k) (orbit z (k + m)).
  by move=> mN; rewrite orbitD E; apply: (stay_sound A st).
rewrite -none; apply: walk_step => //; first by right.
  by move=> m mN; split; [apply: same | case: (on m mN)].
have [e a] := on N (leqnn N); rewrite addnS orbitS.
have -> : layer (orbit z (k + N)) = step (M (sets_at k)) g (orbit z (k + N)).
  by rewrite /step -layer_withE; apply/ffunP => i; rewrite !ffunE (check_attendedP _ _ a).
by rewrite e (formS (MD mult _) (MZ mult _) alphaE) //; case/andP: st => /eqP.
Qed.

(* ---- the limit ---- *)
Notation tends_to z i p := (tends_to (fun m => orbit z m i) p).

Definition leads_at z v (p : V) := exists t, first_leads z v t /\ forall m, (t <= m)%N -> orbit z m v = p.

(* what a certificate says of the limit of point i *)
Definition limit_true z i (l : limit) :=
  match l with
  | Vertex v => exists2 p, leads_at z v p & tends_to z i p
  | Point p => tends_to z i p
  | Face F weights p => tends_to z i p /\ exists q : I -> V,
      [/\ forall v, v \in F <-> leads_at z v (q v) /\ forall u x, leads_at z u x -> B p x <= B p (q v),
          forall v, v \in F -> 0 <= weights v, \sum_(v in F) weights v = 1 &
          p = \sum_(v in F) weights v *: q v]
  end.

Lemma leader_mean C y v : check_attended C y -> leader y v -> forall k, iter k (M C) y v = y v.
Proof.
move=> /check_attendedP S l k; suff : forall j, y j = y v -> iter k (M C) y j = y v by apply.
elim: k => [//|k IH] j E /=; rewrite ffunE; have [c cS] := att_ex B y j.
have Sj : attended y j = attended y v by apply/setP => u; rewrite !inE E.
apply: (mean_const mult_gt0 (c := c)); first by rewrite -S.
by move=> u uC; apply: IH; apply: l; rewrite -Sj S.
Qed.

Lemma leads_still z v t : leader (orbit z t) v -> forall m, (t <= m)%N -> orbit z m v = orbit z t v.
Proof.
move=> l m tm; rewrite -(subnKC tm) orbitD.
by have [] := leader_for_ever BDr BZr mult_gt0 g_gt0 g_lt1 l (m - t).
Qed.

(* from layer K on the walk could go on for ever *)
Lemma settled fuel z K y d P L n : let C := sets_at K in
  walk z K y d P -> check_attended C y /\ all (fun e => (e.1 <= K)%N) entries ->
  check_all C y P /\ still_pending C P = set0 -> stay fuel C L y None ->
  orbit z (K + n) = form C L y n /\ walked z (K + n.+1) (orbit z (K + n.+1)) (dated K C y d) (still_pending C P).
Proof.
move=> C /walk_sound ok [A upto] [ch none] st.
have yE : orbit z K = y by case: ok.
have same m : sets_at (K + m) = C.
  have all_in k : (K <= k)%N -> [seq e <- entries | (e.1 <= k)%N] = entries.
    by move=> Kk; apply/all_filterP; apply: sub_all upto => e /leq_trans; apply.
  by rewrite /C /sets_at !all_in ?leq_addr.
have on m : orbit z (K + m) = form C L y m /\ check_attended C (orbit z (K + m)).
  by rewrite orbitD yE; apply: (stay_sound A st).
split; first by case: (on n).
by apply: walk_step => //; [right | move=> m _; split; [exact: same | case: (on m)]].
Qed.

(* What the radius needs of an accepted certificate: the tests of the points hold until each follows a leader. *)
Lemma accepted_radius z K leaders limits : accepted z K leaders limits -> forall k,
  check_attended (sets_at k) (orbit z k) /\
  forall i, i \in asked -> check_radius (sets_at k) (orbit z k) i \/ followed z k i.
Proof.
case=> fuel [y [d [P [L [w A ch st _]]]]] k.
have [_ [_ S _ Rd _]] := settled k w A ch st.
have kK : (k < K + k.+1)%N by rewrite addnS ltnS leq_addl.
by split=> [|i ia]; [apply: S | apply: Rd].
Qed.

(* THE theorem, of `verify`: if a certificate is accepted, the attended sets at every layer are those of its
   entries; from layer K on the points move along the form and tend to its constant part; the leaders are those
   listed, each from its layer on and not before, and stand still; and what it says of each limit is true. *)
Theorem accepted_sound z K leaders limits : accepted z K leaders limits ->
  [/\ forall k i, attended (orbit z k) i = sets_at k i,
      exists2 L, (forall m, orbit z (K + m) = form (sets_at K) L (orbit z K) m) &
        let w := iter L (M (sets_at K)) (orbit z K) in M (sets_at K) w = w /\ forall i, tends_to z i (w i),
      forall i, if leaders i is Some t then first_leads z i t /\ forall m, (t <= m)%N -> orbit z m i = orbit z t i
                else forall t, ~ leader (orbit z t) i &
      forall i, limit_true z i (limits i)].
Proof.
case=> fuel [y [d [P [L]]]]; set C := sets_at K => -[w A ch st [ld lim]].
have yE : orbit z K = y by case: (walk_sound w).
have fx : M C (iter L (M C) y) = iter L (M C) y by case/andP: st => /eqP.
have on m : orbit z (K + m) = form C L y m by case: (settled m w A ch st).
have all_n n := proj2 (settled n w A ch st).
have {A} A : check_attended C y by case: A.
have ev k : check_attended (sets_at k) (orbit z k).
  by have [_ S _ _ _] := all_n k; apply: S; rewrite addnS ltnS leq_addl.
have led i : if leaders i is Some t then first_leads z i t /\ (t <= K)%N else forall t, ~ leader (orbit z t) i.
  rewrite ld; have [_ _ D _ _] := all_n 0%N; move: (D i); case E: (dated K C y d i) => [t|] //.
    by rewrite addn1 ltnS => -[? ?].
  by move=> _ t l; have [_ _ /(_ i) + _ _] := all_n t; rewrite E => /(_ t); apply => //; rewrite addnS ltnS leq_addl.
have tend : forall i, tends_to z i (iter L (M C) y i).
  by move=> i; apply: (form_tends g_gt0 alpha_gt0 gE (K := K)) => m; rewrite on.
have still v t : leader (orbit z t) v -> (t <= K)%N -> forall m, (t <= m)%N -> orbit z m v = iter L (M C) y v.
  move=> l tK m tm; rewrite (leads_still l tm) -(leads_still l tK) yE leader_mean //.
  rewrite -yE -(subnKC tK) orbitD; by have [_ []] := leader_for_ever BDr BZr mult_gt0 g_gt0 g_lt1 l (K - t).
have place v : v \in listed leaders -> leads_at z v (iter L (M C) y v).
  by rewrite inE; have := led v; case: (leaders v) => // t [[l f] tK] _; exists t; split=> //; apply: still.
have known u x : leads_at z u x -> u \in listed leaders /\ x = iter L (M C) y u.
  case=> t [[l f] at_x]; have := led u; rewrite inE; case E: (leaders u) => [t'|] lu; last by case: (lu t).
  split=> //; case: lu => -[l' f'] tK; rewrite -(still _ _ l' tK (maxn t t')) ?leq_maxr //.
  by rewrite at_x ?leq_maxl.
split=> [k i| |i|i]; first by apply/check_attendedP.
- exists L; first by move=> m; rewrite yE.
  by rewrite yE.
- by have := led i; case: (leaders i) => // t [f tK]; split=> //; case: f => l _; apply: leads_still.
move: (lim i); case: (limits i) => [v /andP[vl /eqP e]|p /eqP <-|F weights p].
- by exists (iter L (M C) y i); rewrite -?e; [apply: place | rewrite e].
- exact: tend.
move=> /= /and5P[/eqP <- /eqP FE /forall_inP w0 /eqP w1 /eqP wE]; split=> //.
exists (iter L (M C) y); split=> // v; rewrite FE inE; split.
  case/andP=> vl /forall_inP top; split; first exact: place.
  by move=> u x /known[ul ->]; apply: top.
case=> /known[vl _] top; rewrite vl; apply/forall_inP => u ul; apply: top; exact: place.
Qed.

(* `face`, if A is symmetric positive definite: of all means of these leaders the limit is nearest to the origin
   (`is_on_face`). *)
Theorem face_nearest z i (F : {set I}) weights p :
  (forall x x', B x x' = B x' x) -> (forall x, x != 0 -> 0 < B x x) -> limit_true z i (Face F weights p) ->
  exists2 q : I -> V, forall v, v \in F -> leads_at z v (q v) &
    forall mu : I -> R, \sum_(v in F) mu v = 1 -> let x := \sum_(v in F) mu v *: q v in x != p -> B p p < B x x.
Proof.
move=> sym pd [_ [q [FE _ w1 pE]]]; exists q => [v /FE[] //|mu m1 x]; apply: projection => //.
have [v vF] : exists v, v \in F.
  apply/set0Pn; apply: contra_eq_neq m1 => ->; rewrite big_set0 eq_sym; exact: oner_neq0.
have same u : u \in F -> B p (q u) = B p (q v).
  move=> uF; have [lu tu] := iffLR (FE u) uF; have [lv tv] := iffLR (FE v) vF.
  by apply/eqP; rewrite eq_le (tu _ _ lv) (tv _ _ lu).
have score (nu : I -> R) : \sum_(u in F) nu u = 1 -> B p (\sum_(u in F) nu u *: q u) = B p (q v).
  move=> n1; rewrite (Bsumr BDr BZr) (eq_bigr (fun u => nu u * B p (q v))) => [|u uF].
    by rewrite -mulr_suml n1 mul1r.
  by rewrite BZr same.
by rewrite /x score // [X in _ = B _ X]pE score.
Qed.
End Accepted.

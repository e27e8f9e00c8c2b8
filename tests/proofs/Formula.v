(* The formula of a broadcast with one port, and replay of its refutations.

   Whoever has a schedule of so many steps has an assignment that satisfies the formula: Has v t for
   "v has the item after step t", Used k t for "channel k tells somebody new in step t". Clauses,
   variables and their numbers are those of the DIMACS files that mpinet writes. A proof in LRAT
   derives the empty clause by unit propagation along hints, so that nothing satisfies it. *)

From Mpinet Require Import Machine Cuts.
From Coq Require Import FMapPositive PeanoNat.
From Coq Require Export ZArith.
Open Scope N_scope.

(* Unit propagation. *)

Inductive line := Add (number : positive) (literals : list Z) (hints : list positive)
                | Forget (numbers : list positive).

Definition value (val : positive -> bool) (l : Z) : bool :=
  match l with Zpos p => val p | Zneg p => negb (val p) | Z0 => false end.

Definition clause_holds (val : positive -> bool) (c : list Z) : Prop :=
  existsb (value val) c = true.

Definition known := PositiveMap.t bool.

Definition put (l : Z) (a : known) : known :=
  match l with
  | Zpos p => PositiveMap.add p true a | Zneg p => PositiveMap.add p false a | Z0 => a
  end.

Definition is_false (a : known) (l : Z) : bool :=
  match l with
  | Zpos p => match PositiveMap.find p a with Some b => negb b | None => false end
  | Zneg p => match PositiveMap.find p a with Some b => b | None => false end
  | Z0 => true
  end.

Definition book := PositiveMap.t (list Z).

Fixpoint follow (db : book) (a : known) (hints : list positive) : bool :=
  match hints with
  | [] => false
  | h :: others =>
    match PositiveMap.find h db with
    | None => false
    | Some c =>
      match filter (fun l => negb (is_false a l)) c with
      | [] => true
      | l :: same => if forallb (Z.eqb l) same then follow db (put l a) others else false
      end
    end
  end.

Definition suppose (literals : list Z) : known :=
  fold_right (fun l a => put (Z.opp l) a) (PositiveMap.empty bool) literals.

Fixpoint refutes (db : book) (proof : list line) : bool :=
  match proof with
  | [] => false
  | Forget numbers :: others =>
    refutes (fold_right (fun k db => PositiveMap.remove k db) db numbers) others
  | Add k literals hints :: others =>
    follow db (suppose literals) hints &&
    match literals with [] => true | _ => refutes (PositiveMap.add k literals db) others end
  end.

Definition agrees (val : positive -> bool) (a : known) : Prop :=
  forall p b, PositiveMap.find p a = Some b -> val p = b.

Definition satisfied (val : positive -> bool) (db : book) : Prop :=
  forall k c, PositiveMap.find k db = Some c -> clause_holds val c.

Lemma put_agrees val l a : value val l = true -> agrees val a -> agrees val (put l a).
Proof.
  intros v h p b. destruct l as [|q|q]; simpl in *; [apply h| |].
  - destruct (Pos.eq_dec p q) as [->|other].
    + rewrite PositiveMap.gss. congruence.
    + rewrite PositiveMap.gso by assumption. apply h.
  - destruct (Pos.eq_dec p q) as [->|other].
    + rewrite PositiveMap.gss. apply negb_true_iff in v. congruence.
    + rewrite PositiveMap.gso by assumption. apply h.
Qed.

Lemma false_is_false val a l : agrees val a -> is_false a l = true -> value val l = false.
Proof.
  intros h f. destruct l as [|q|q]; simpl in *; [reflexivity| |];
    destruct (PositiveMap.find q a) eqn:e; try discriminate; rewrite (h _ _ e).
  - apply negb_true_iff, f.
  - apply negb_false_iff, f.
Qed.

Lemma follow_conflict val db : satisfied val db -> forall hints a,
  agrees val a -> follow db a hints = true -> False.
Proof.
  intros sat hints. induction hints as [|h hints IH]; simpl; intros a agree f; [discriminate|].
  destruct (PositiveMap.find h db) as [c|] eqn:e; [|discriminate].
  pose proof (sat _ _ e) as holds. unfold clause_holds in holds. apply existsb_exists in holds.
  destruct holds as [x [hx vx]].
  assert (In x (filter (fun l => negb (is_false a l)) c)) as kept.
  { apply filter_In. split; [exact hx|]. destruct (is_false a x) eqn:fx; [|reflexivity].
    rewrite (false_is_false _ _ _ agree fx) in vx. discriminate. }
  destruct (filter (fun l => negb (is_false a l)) c) as [|l same]; [exact kept|].
  destruct (forallb (Z.eqb l) same) eqn:all; [|discriminate].
  apply (IH (put l a)); [|exact f]. apply put_agrees; [|exact agree].
  destruct kept as [<-|kept]; [exact vx|]. rewrite forallb_forall in all.
  apply all in kept. apply Z.eqb_eq in kept. congruence.
Qed.

Lemma suppose_agrees val literals :
  existsb (value val) literals = false -> agrees val (suppose literals).
Proof.
  induction literals as [|l others IH]; simpl; intros none.
  - intros p b e. rewrite PositiveMap.gempty in e. discriminate.
  - apply orb_false_iff in none. destruct none as [v none].
    specialize (IH none). destruct l as [|q|q]; [exact IH| |].
    + apply put_agrees; [|exact IH]. simpl in *. rewrite v. reflexivity.
    + apply put_agrees; [|exact IH]. simpl in *. apply negb_false_iff, v.
Qed.

Lemma removed val numbers : forall db, satisfied val db ->
  satisfied val (fold_right (fun k db => PositiveMap.remove k db) db numbers).
Proof.
  induction numbers as [|k numbers IH]; simpl; intros db sat; [exact sat|].
  intros key c e. destruct (Pos.eq_dec key k) as [->|other].
  - rewrite PositiveMap.grs in e. discriminate.
  - rewrite PositiveMap.gro in e by assumption. apply (IH db sat key c e).
Qed.

Theorem refuted val proof : forall db, satisfied val db -> refutes db proof = true -> False.
Proof.
  induction proof as [|[k literals hints|numbers] proof IH]; simpl; intros db sat r;
    [discriminate| |].
  - apply andb_prop in r. destruct r as [f r].
    assert (clause_holds val literals) as new.
    { unfold clause_holds. destruct (existsb (value val) literals) eqn:none; [reflexivity|].
      exfalso. apply (follow_conflict val db sat hints (suppose literals)); [|exact f].
      apply suppose_agrees, none. }
    destruct literals as [|l literals]; [discriminate|].
    apply (IH (PositiveMap.add k (l :: literals) db)); [|exact r].
    intros key c e. destruct (Pos.eq_dec key k) as [->|other].
    + rewrite PositiveMap.gss in e. injection e as <-. exact new.
    + rewrite PositiveMap.gso in e by assumption. apply (sat _ _ e).
  - apply (IH _ (removed val numbers db sat) r).
Qed.

(* The formula. *)

Inductive variable := Has (v : node) (t : nat) | Used (k : nat) (t : nat).

Definition variable_dec (x y : variable) : {x = y} + {x <> y}.
Proof. decide equality; first [apply N.eq_dec | apply Nat.eq_dec]. Defined.

Section Formula.
Variables (n : network) (root : node) (most : nat) (away : node -> N) (wires : bool).

(* What `away` says is no more than the distance: it grows by one at most along a channel. *)
Definition near : bool :=
  (away root =? 0) &&
  forallb (fun c => forallb (fun v => away v <=? away (from c) + 1) (into c)) (channels n).

Definition literal := (bool * variable)%type.

Definition constant (x : variable) : option bool :=
  match x with
  | Used _ _ => None
  | Has v t =>
    if v =? root then Some true
    else if N.of_nat t <? away v then Some false
    else if Nat.eqb t most && (v <? hosts n) then Some true else None
  end.

Definition arcs : list (nat * channel) := combine (seq 0 (length (channels n))) (channels n).

Definition useful (t : nat) (arc : nat * channel) : bool :=
  (away (from (snd arc)) <? N.of_nat t) &&
  existsb (fun v => (away v <=? N.of_nat t) && negb (v =? root)) (into (snd arc)).

Definition arrives (v : node) (arc : nat * channel) : bool := existsb (N.eqb v) (into (snd arc)).
Definition leaves (v : node) (arc : nat * channel) : bool := from (snd arc) =? v.

Definition use (t : nat) (sign : bool) (arc : nat * channel) : literal := (sign, Used (fst arc) t).

Definition decided (l : literal) : bool :=
  match constant (snd l) with Some b => Bool.eqb b (fst l) | None => false end.

Definition folded (c : list literal) : list (list literal) :=
  if existsb decided c then []
  else [filter (fun l => match constant (snd l) with Some _ => false | None => true end) c].

Fixpoint apart (t : nat) (mine : list (nat * channel)) : list (list literal) :=
  match mine with
  | [] => []
  | arc :: others =>
    map (fun other => [use t false arc; use t false other])
        (filter (fun other => if channel_dec (snd arc) (snd other) then false else true) others)
    ++ apart t others
  end.

Definition told_by (t : nat) (v : node) : list (list literal) :=
  [(false, Has v t) :: (true, Has v (pred t)) ::
     map (use t true) (filter (fun arc => arrives v arc && useful t arc) arcs);
   [(false, Has v (pred t)); (true, Has v t)]].

Definition sent_by (t : nat) (u : node) : list (list literal) :=
  let mine := filter (fun arc => leaves u arc && useful t arc) arcs in
  map (fun arc => [use t false arc; (true, Has u (pred t))]) mine ++ apart t mine.

Definition in_vain (t : nat) (v : node) : list (list literal) :=
  map (fun arc => [use t false arc; (false, Has v (pred t))])
    (filter (fun arc => match into (snd arc) with [w] => v =? w | _ => false end && useful t arc)
            arcs).

Definition all_steps (f : nat -> node -> list (list literal)) : list (list literal) :=
  flat_map (fun t => flat_map (f t) (numbers (size n))) (seq 1 most).

Definition formula : list (list literal) :=
  flat_map folded (all_steps told_by ++ all_steps sent_by ++ if wires then all_steps in_vain else []).

(* The variables' numbers. *)

Definition names : list variable :=
  flat_map (fun t => filter (fun x => match constant x with None => true | _ => false end)
                            (map (fun v => Has v t) (numbers (size n)))) (seq 1 most) ++
  flat_map (fun t => map (fun arc => Used (fst arc) t) (filter (useful t) arcs)) (seq 1 most).

Definition key (x : variable) : positive :=
  match x with
  | Has v t => N.succ_pos (2 * (N.of_nat t * size n + v))
  | Used k t =>
    N.succ_pos (2 * (N.of_nat t * N.of_nat (length (channels n)) + N.of_nat k) + 1)
  end.

Definition numbering : PositiveMap.t positive * PositiveMap.t variable :=
  let '(_, ids, back) := fold_left
    (fun made x => let '(next, ids, back) := made in
       (Pos.succ next, PositiveMap.add (key x) next ids, PositiveMap.add next x back))
    names (1%positive, PositiveMap.empty positive, PositiveMap.empty variable) in
  (ids, back).

Definition number (all : PositiveMap.t positive * PositiveMap.t variable) (l : literal) : list Z :=
  match PositiveMap.find (key (snd l)) (fst all) with
  | None => []
  | Some k =>
    match PositiveMap.find k (snd all) with
    | None => []
    | Some x => if variable_dec x (snd l) then [if fst l then Zpos k else Zneg k] else []
    end
  end.

(* The formula as DIMACS has it; a clause with a literal that has no number would be left out. *)
Definition numbered : list (list Z) :=
  let all := numbering in
  flat_map (fun c => let zs := flat_map (number all) c in
                     if Nat.eqb (length zs) (length c) then [zs] else []) formula.

Definition booked : book :=
  snd (fold_left (fun made c => (Pos.succ (fst made), PositiveMap.add (fst made) c (snd made)))
                 numbered (1%positive, PositiveMap.empty (list Z))).

Definition replays (proof : list line) : bool := near && refutes booked proof.

(* A schedule satisfies it. *)

Variable steps : list step.
Hypothesis done : does n One (broadcast root 1) steps.
Hypothesis exact : length steps = most.
Hypothesis grows : near = true.

Let know (t : nat) (v : node) : bool := after (start (broadcast root 1)) (firstn t steps) v 0.
Let step_ (t : nat) : step := nth (pred t) steps [].

Definition sem (x : variable) : bool :=
  match x with
  | Has v t => know t v
  | Used k t =>
    existsb (fun m => match nth_error (channels n) k with
                      | Some c => if channel_dec (over m) c then true else false
                      | None => false
                      end && (what m =? 0) && existsb (fun v => negb (know (pred t) v)) (heard m))
            (step_ t)
  end.

Definition holds (c : list literal) : Prop := exists l, In l c /\ sem (snd l) = fst l.

Lemma split_at p : forall (all : list step) t k, lawful n p k all -> (t < length all)%nat ->
  legal n p (after k (firstn t all)) (nth t all []) /\
  after k (firstn (S t) all) = told (after k (firstn t all)) (nth t all []).
Proof.
  induction all as [|s all IH]; simpl; intros t k L short; [lia|].
  destruct L as [l L]. destruct t as [|t]; simpl; [auto|].
  apply (IH t (told k s) L). lia.
Qed.

Lemma at_step t : (1 <= t <= most)%nat -> legal n One (after (start (broadcast root 1)) (firstn (pred t) steps)) (step_ t) /\
  forall v, know t v = told (after (start (broadcast root 1)) (firstn (pred t) steps)) (step_ t) v 0.
Proof.
  intros range. destruct t as [|t]; [lia|]. destruct done as [L _].
  destruct (split_at One steps t (start (broadcast root 1)) L) as [l e]; [lia|].
  split; [exact l|]. intros v. unfold know, step_. simpl pred. rewrite e. reflexivity.
Qed.

Lemma keeps t v : (1 <= t <= most)%nat -> know (pred t) v = true -> know t v = true.
Proof.
  intros range k. destruct (at_step t range) as [_ e]. rewrite e. unfold told.
  unfold know in k. rewrite k. reflexivity.
Qed.

Lemma at_start v : know 0 v = (v =? root).
Proof. unfold know. simpl. unfold start. simpl. reflexivity. Qed.

Lemma late t v : (most <= t)%nat -> know t v = know most v.
Proof. intros h. unfold know. rewrite !firstn_all2 by lia. reflexivity. Qed.

Lemma distance_within t : (t <= most)%nat -> forall v, know t v = true -> away v <= N.of_nat t.
Proof.
  apply andb_prop in grows. destruct grows as [zero edges]. apply N.eqb_eq in zero.
  rewrite forallb_forall in edges.
  induction t as [|t IH]; intros range v k.
  - rewrite at_start in k. apply N.eqb_eq in k. subst. lia.
  - destruct (at_step (S t)) as [[rules _] e]; [lia|]. rewrite e in k. unfold told in k.
    apply orb_prop in k. destruct k as [k|k].
    + specialize (IH ltac:(lia) v k). lia.
    + apply existsb_exists in k. destruct k as [m [hm k]]. apply andb_prop in k.
      destruct k as [item0 hear]. apply N.eqb_eq in item0. destruct (rules m hm) as [hc [hi sender]].
      rewrite item0 in sender. specialize (IH ltac:(lia) _ sender).
      specialize (edges _ hc). rewrite forallb_forall in edges.
      unfold hears in hear. apply existsb_exists in hear. destruct hear as [w [hw same]].
      apply N.eqb_eq in same. subst w. apply hi in hw. apply edges in hw. apply N.leb_le in hw. lia.
Qed.

Lemma distance t v : know t v = true -> away v <= N.of_nat t.
Proof.
  destruct (Nat.le_gt_cases t most) as [h|h]; intros k; [apply distance_within; assumption|].
  rewrite late in k by lia. apply distance_within in k; lia.
Qed.

Lemma root_knows_within t : (t <= most)%nat -> know t root = true.
Proof.
  induction t as [|t IH]; intros range; [rewrite at_start; apply N.eqb_refl|].
  apply keeps; [lia|]. simpl. apply IH. lia.
Qed.

Lemma root_knows t : know t root = true.
Proof.
  destruct (Nat.le_gt_cases t most) as [h|h]; [|rewrite late by lia];
    apply root_knows_within; lia.
Qed.

Lemma constants x b : constant x = Some b -> sem x = b.
Proof.
  destruct x as [v t|k t]; simpl; intros c; [|discriminate].
  destruct (v =? root) eqn:r.
  { injection c as <-. apply N.eqb_eq in r. subst v. apply root_knows. }
  destruct (N.of_nat t <? away v) eqn:far.
  { injection c as <-. destruct (know t v) eqn:k; [|reflexivity].
    apply distance in k. apply N.ltb_lt in far. lia. }
  destruct (Nat.eqb t most && (v <? hosts n)) eqn:last; [|discriminate].
  injection c as <-. apply andb_prop in last. destruct last as [e small].
  apply Nat.eqb_eq in e. apply N.ltb_lt in small. subst t. unfold know.
  rewrite <- exact, firstn_all. destruct done as [_ D]. apply D; simpl; [exact small|lia|reflexivity].
Qed.

Lemma in_arcs k c : In (k, c) arcs -> nth_error (channels n) k = Some c.
Proof.
  unfold arcs. enough (forall l first, In (k, c) (combine (seq first (length l)) l) ->
    nth_error l (k - first) = Some c /\ (first <= k)%nat) as h.
  { intros i. destruct (h _ _ i) as [h' _]. rewrite Nat.sub_0_r in h'. exact h'. }
  induction l as [|x l IH]; simpl; intros first i; [contradiction|].
  destruct i as [e|i].
  - injection e as -> ->. rewrite Nat.sub_diag. auto.
  - destruct (IH (S first) i) as [h1 h2]. split; [|lia].
    replace (k - first)%nat with (S (k - S first)) by lia. exact h1.
Qed.

Lemma arc_of c : In c (channels n) -> exists k, In (k, c) arcs.
Proof.
  unfold arcs. generalize (channels n) as l. intros l. generalize 0%nat as first.
  induction l as [|x l IH]; simpl; intros first i; [contradiction|].
  destruct i as [->|i]; [eauto|]. destruct (IH (S first) i) as [k h]. eauto.
Qed.

Lemma used arc t : In arc arcs -> sem (Used (fst arc) t) = true ->
  exists m, In m (step_ t) /\ over m = snd arc /\ what m = 0 /\
            exists v, In v (heard m) /\ know (pred t) v = false.
Proof.
  destruct arc as [k c]. intros i u. simpl in u. rewrite (in_arcs _ _ i) in u.
  apply existsb_exists in u. destruct u as [m [hm u]]. exists m.
  apply andb_prop in u. destruct u as [u new]. apply andb_prop in u. destruct u as [same item0].
  destruct (channel_dec (over m) c) as [e|]; [|discriminate].
  apply N.eqb_eq in item0. apply existsb_exists in new. destruct new as [v [hv new]].
  apply negb_true_iff in new. repeat split; eauto.
Qed.

Lemma told_by_holds t v c : (1 <= t <= most)%nat -> In c (told_by t v) -> holds c.
Proof.
  intros range i. destruct i as [<-|[<-|[]]].
  - destruct (know t v) eqn:k; [|exists (false, Has v t); simpl; auto].
    destruct (know (pred t) v) eqn:b; [exists (true, Has v (pred t)); simpl; auto|].
    destruct (at_step t range) as [[rules _] e]. rewrite e in k. unfold told in k.
    unfold know in b. rewrite b in k. simpl in k. apply existsb_exists in k.
    destruct k as [m [hm k]]. apply andb_prop in k. destruct k as [item0 hear].
    apply N.eqb_eq in item0. destruct (rules m hm) as [hc [hi sender]]. rewrite item0 in sender.
    destruct (arc_of _ hc) as [k ha]. unfold hears in hear. apply existsb_exists in hear.
    destruct hear as [w [hw same]]. apply N.eqb_eq in same. subst w.
    exists (use t true (k, over m)). split.
    + right. right. apply in_map. apply filter_In. split; [exact ha|].
      apply andb_true_intro. split.
      * unfold arrives. apply existsb_exists. exists v. split; [apply hi, hw|apply N.eqb_refl].
      * unfold useful. simpl. apply andb_true_intro. split.
        -- apply N.ltb_lt. assert (away (from (over m)) <= N.of_nat (pred t)); [|lia].
           apply distance. exact sender.
        -- apply existsb_exists. exists v. split; [apply hi, hw|]. apply andb_true_intro. split.
           ++ apply N.leb_le. apply distance. rewrite e. unfold told.
              apply orb_true_iff. right. apply existsb_exists. exists m. split; [exact hm|].
              rewrite item0. unfold hears. simpl. apply existsb_exists. exists v.
              split; [exact hw|apply N.eqb_refl].
           ++ apply negb_true_iff. destruct (v =? root) eqn:r; [|reflexivity].
              apply N.eqb_eq in r. subst v. pose proof (root_knows (pred t)) as yes.
              unfold know in yes. congruence.
    + simpl. rewrite (in_arcs _ _ ha). apply existsb_exists. exists m. split; [exact hm|].
      destruct (channel_dec (over m) (over m)); [|congruence]. rewrite item0. simpl.
      apply existsb_exists. exists v. split; [exact hw|]. unfold know. rewrite b. reflexivity.
  - destruct (know (pred t) v) eqn:b; [|exists (false, Has v (pred t)); simpl; auto].
    exists (true, Has v t). simpl. split; [auto|]. apply keeps; assumption.
Qed.

Lemma two_of {A} (f : A -> bool) l x y : In x l -> In y l -> x <> y -> f x = true -> f y = true ->
  (2 <= length (filter f l))%nat.
Proof.
  intros ix iy other fx fy. assert (In x (filter f l)) as hx by (apply filter_In; auto).
  assert (In y (filter f l)) as hy by (apply filter_In; auto).
  destruct (filter f l) as [|a [|b r]]; simpl in *; try lia; intuition congruence.
Qed.

Lemma apart_holds t u : (1 <= t <= most)%nat -> forall mine c,
  (forall arc, In arc mine -> In arc arcs /\ leaves u arc = true) ->
  In c (apart t mine) -> holds c.
Proof.
  intros range mine. induction mine as [|arc mine IH]; simpl; intros c ours i; [contradiction|].
  apply in_app_or in i. destruct i as [i|i]; [|apply IH; auto].
  apply in_map_iff in i. destruct i as [other [<- i]]. apply filter_In in i. destruct i as [i differ].
  destruct (sem (Used (fst arc) t)) eqn:ua; [|exists (use t false arc); simpl; auto].
  destruct (sem (Used (fst other) t)) eqn:uo; [|exists (use t false other); simpl; auto].
  exfalso. destruct (ours arc (or_introl eq_refl)) as [ia la].
  destruct (ours other (or_intror i)) as [io lo].
  destruct (used arc t ia ua) as [m [hm [om _]]]. destruct (used other t io uo) as [m' [hm' [om' _]]].
  destruct (at_step t range) as [[_ [_ one]] _]. destruct (one eq_refl u) as [few _].
  unfold counted in few.
  assert (2 <= length (filter (fun m => N.eqb (from (over m)) u) (step_ t)))%nat; [|lia].
  apply (two_of _ _ m m'); auto.
  - intros e. subst m'. rewrite om in om'. destruct (channel_dec (snd arc) (snd other)); [discriminate|].
    contradiction.
  - rewrite om. exact la.
  - rewrite om'. exact lo.
Qed.

Lemma sent_by_holds t u c : (1 <= t <= most)%nat -> In c (sent_by t u) -> holds c.
Proof.
  intros range i. unfold sent_by in i. apply in_app_or in i. destruct i as [i|i].
  - apply in_map_iff in i. destruct i as [arc [<- i]]. apply filter_In in i. destruct i as [i ok].
    apply andb_prop in ok. destruct ok as [leave _]. apply N.eqb_eq in leave.
    destruct (sem (Used (fst arc) t)) eqn:u'; [|exists (use t false arc); simpl; auto].
    exists (true, Has u (pred t)). split; [simpl; auto|]. simpl.
    destruct (used arc t i u') as [m [hm [om [item0 _]]]].
    destruct (at_step t range) as [[rules _] _]. destruct (rules m hm) as [_ [_ sender]].
    rewrite item0, om, leave in sender. exact sender.
  - refine (apart_holds t u range _ c _ i). intros arc h. apply filter_In in h.
    destruct h as [h ok]. apply andb_prop in ok. tauto.
Qed.

Lemma in_vain_holds t v c : (1 <= t <= most)%nat -> In c (in_vain t v) -> holds c.
Proof.
  intros range i. apply in_map_iff in i. destruct i as [arc [<- i]]. apply filter_In in i.
  destruct i as [i ok]. apply andb_prop in ok. destruct ok as [single _].
  destruct (sem (Used (fst arc) t)) eqn:u; [|exists (use t false arc); simpl; auto].
  exists (false, Has v (pred t)). split; [simpl; auto|]. simpl.
  destruct (used arc t i u) as [m [hm [om [_ [w [hw new]]]]]].
  destruct (at_step t range) as [[rules _] _]. destruct (rules m hm) as [_ [hi _]].
  apply hi in hw. rewrite om in hw. destruct (into (snd arc)) as [|x [|]]; try discriminate.
  apply N.eqb_eq in single. destruct hw as [<-|[]]. subst x. exact new.
Qed.

Theorem formula_holds c : In c (formula) -> holds c.
Proof.
  intros i. unfold formula in i. apply in_flat_map in i. destruct i as [whole [i f]].
  assert (holds whole) as [l [il true_]].
  { assert (every : forall f, (forall t v c, (1 <= t <= most)%nat -> In c (f t v) -> holds c) ->
      In whole (all_steps f) -> holds whole).
    { clear i. intros g h i. unfold all_steps in i. apply in_flat_map in i. destruct i as [t [ht i]].
      apply in_flat_map in i. destruct i as [v [_ i]]. apply in_seq in ht. apply (h t v); [lia|exact i]. }
    apply in_app_or in i. destruct i as [i|i]; [apply (every told_by told_by_holds i)|].
    apply in_app_or in i. destruct i as [i|i]; [apply (every sent_by sent_by_holds i)|].
    destruct wires; [apply (every in_vain in_vain_holds i)|contradiction]. }
  unfold folded in f. destruct (existsb decided whole) eqn:sure; [contradiction|].
  destruct f as [<-|[]]. exists l. split; [|exact true_]. apply filter_In. split; [exact il|].
  destruct (constant (snd l)) as [b|] eqn:e; [|reflexivity]. exfalso.
  assert (existsb decided whole = true); [|congruence].
  apply existsb_exists. exists l. split; [exact il|]. unfold decided. rewrite e.
  apply constants in e. rewrite <- e, true_. apply Bool.eqb_reflx.
Qed.

Definition val (p : positive) : bool :=
  match PositiveMap.find p (snd numbering) with Some x => sem x | None => false end.

Lemma number_value l z : In z (number numbering l) -> value val z = Bool.eqb (sem (snd l)) (fst l).
Proof.
  unfold number. destruct (PositiveMap.find (key (snd l)) (fst numbering)) as [k|]; [|contradiction].
  destruct (PositiveMap.find k (snd numbering)) as [x|] eqn:e; [|contradiction].
  destruct (variable_dec x (snd l)) as [->|]; [|contradiction].
  intros [<-|[]]. destruct (fst l); simpl; unfold val; rewrite e; destruct (sem (snd l)); reflexivity.
Qed.

Lemma number_all (c : list literal) : length (flat_map (number numbering) c) = length c ->
  forall l, In l c -> exists z, In z (number numbering l).
Proof.
  assert (forall l, (length (number numbering l) <= 1)%nat) as one.
  { intros l. unfold number. destruct (PositiveMap.find (key (snd l)) (fst numbering)) as [k|]; [|simpl; lia].
    destruct (PositiveMap.find k (snd numbering)) as [x|]; [|simpl; lia].
    destruct (variable_dec x (snd l)); simpl; lia. }
  assert (forall c0, (length (flat_map (number numbering) c0) <= length c0)%nat) as few.
  { induction c0 as [|l c' IH]; cbn [flat_map length]; [lia|]. rewrite app_length. specialize (one l). lia. }
  induction c as [|l c IH]; cbn [flat_map length In]; intros e l' i; [contradiction|].
  rewrite app_length in e. pose proof (few c). pose proof (one l). destruct i as [<-|i].
  - destruct (number numbering l) as [|z r]; [simpl in *; lia|]. exists z. simpl. auto.
  - apply IH; [lia|exact i].
Qed.

Lemma numbered_holds zs : In zs numbered -> clause_holds val zs.
Proof.
  intros i. unfold numbered in i. apply in_flat_map in i. destruct i as [c [ic i]].
  destruct (Nat.eqb _ _) eqn:e; [|contradiction]. destruct i as [<-|[]]. apply Nat.eqb_eq in e.
  destruct (formula_holds c ic) as [l [il true_]].
  destruct (number_all c e l il) as [z iz]. unfold clause_holds. apply existsb_exists.
  exists z. split; [apply in_flat_map; eauto|]. rewrite (number_value l z iz), true_.
  apply Bool.eqb_reflx.
Qed.

Lemma booked_holds : satisfied val booked.
Proof.
  unfold booked. enough (forall zs made, (forall z, In z zs -> clause_holds val z) ->
    satisfied val (snd made) ->
    satisfied val (snd (fold_left
      (fun made c => (Pos.succ (fst made), PositiveMap.add (fst made) c (snd made))) zs made))) as h.
  { apply h; [apply numbered_holds|]. intros k c e. simpl in e. rewrite PositiveMap.gempty in e.
    discriminate. }
  induction zs as [|z zs IH]; simpl; intros made all sat; [exact sat|].
  apply IH; [auto|]. intros k c e. simpl in e. destruct (Pos.eq_dec k (fst made)) as [->|other].
  - rewrite PositiveMap.gss in e. injection e as <-. auto.
  - rewrite PositiveMap.gso in e by assumption. apply (sat _ _ e).
Qed.

End Formula.

(* If nothing satisfies the clauses of the DIMACS file, as another checker may have shown, or a
   proof is replayed here, then there is no schedule of so many steps. *)

Theorem unsatisfiable_shows n root most away wires : near n root away = true ->
  (forall val, ~ Forall (clause_holds val) (numbered n root most away wires)) ->
  takes_more_than n One (broadcast root 1) most.
Proof.
  intros close none. apply exactly. intros steps done exact.
  apply (none (val n root most away steps)). apply Forall_forall.
  intros zs i. exact (numbered_holds n root most away wires steps done exact close zs i).
Qed.

Theorem replay_shows n root most away wires proof :
  replays n root most away wires proof = true ->
  takes_more_than n One (broadcast root 1) most.
Proof.
  intros r. apply andb_prop in r. destruct r as [close r]. apply exactly. intros steps done exact.
  exact (refuted _ _ _ (booked_holds n root most away wires steps done exact close) r).
Qed.

(* Bounds by cuts: what has to leave sets of nodes, and how little can.

   A cut says from which step on each node belongs to a set. An item that is in the set at the
   beginning, and is needed by a node that is never in it, leaves it in some step by a message from
   a node that belonged before the step to one that does not after it. Cuts have weights, and a
   message is worth those of the cuts that it crosses. Senders and receivers of one port charge for
   one message a step, and each channel for the rest of what its messages are worth. If all charge
   less than has to leave, there is no schedule of so many steps. Distances are a cut, too. *)

From Mpinet Require Import Machine.
From Coq Require Import FMapPositive FinFun PeanoNat.

Definition total {A} (f : A -> N) (l : list A) : N := fold_right (fun x sum => f x + sum) 0 l.

Definition numbers (n : N) : list N := map N.of_nat (seq 0 (N.to_nat n)).

Record cut := Cut { joins : node -> N; weight : N }.

Definition inside (c : cut) (t : N) (v : node) : bool := joins c v <=? t.

Section Certificate.
Variables (n : network) (p : ports) (a : task) (cuts : list cut).
Variables sends accepts : N -> node -> N.

Definition leaving (most : N) (c : cut) : list item :=
  filter (fun i => inside c 0 (owner a i) &&
                   existsb (fun v => needs a v i && negb (inside c most v)) (numbers (hosts n)))
         (numbers (items a)).

Definition value (c : cut) (t : N) (u v : node) : N :=
  if inside c t u && negb (inside c (t + 1) v) then weight c else 0.

Definition worth (t : N) (u v : node) : N := total (fun c => value c t u v) cuts.

Definition gate (charge : N -> node -> N) (t : N) (v : node) : N :=
  match p with One => charge t v | All => 0 end.

Definition hearer (c : channel) : node := hd 0 (into c).

Definition rest (t : N) (c : channel) : N :=
  worth t (from c) (hearer c) - (gate sends t (from c) + gate accepts t (hearer c)).

Definition bill (t : N) : N :=
  total (gate sends t) (numbers (size n)) + total (gate accepts t) (numbers (size n)) +
  total (fun c => room n (medium c) * rest t c) (channels n).

Definition wired : bool :=
  forallb (fun c => Nat.eqb (length (into c)) 1 && (from c <? size n) && (hearer c <? size n))
          (channels n).

Definition shows (most : nat) : bool :=
  wired && (total bill (numbers (N.of_nat most)) <?
            total (fun c => weight c * N.of_nat (length (leaving (N.of_nat most) c))) cuts).

(* Sums. *)

Lemma in_numbers k x : In x (numbers k) <-> x < k.
Proof.
  unfold numbers. rewrite in_map_iff. split.
  - intros [y [<- h]]. apply in_seq in h. lia.
  - intros h. exists (N.to_nat x). rewrite in_seq. lia.
Qed.

Lemma nodup_numbers k : NoDup (numbers k).
Proof.
  apply Injective_map_NoDup; [|apply seq_NoDup].
  intros x y. apply Nnat.Nat2N.inj.
Qed.

Lemma total_le {A} (f g : A -> N) l :
  (forall x, In x l -> f x <= g x) -> total f l <= total g l.
Proof.
  induction l as [|x l IH]; simpl; intros h; [lia|].
  pose proof (h x (or_introl eq_refl)).
  assert (total f l <= total g l) by (apply IH; auto). lia.
Qed.

Lemma total_add {A} (f g : A -> N) l : total (fun x => f x + g x) l = total f l + total g l.
Proof. induction l; simpl; lia. Qed.

Lemma total_filter {A} (f : A -> N) (keep : A -> bool) l :
  total f l = total f (filter keep l) + total f (filter (fun x => negb (keep x)) l).
Proof. induction l as [|x l IH]; simpl; [lia|]. destruct (keep x); simpl; lia. Qed.

Lemma total_constant {A} (k : N) (l : list A) : total (fun _ => k) l = k * N.of_nat (length l).
Proof. induction l; simpl length; simpl total; lia. Qed.

Lemma total_zero {A} (f : A -> N) l : (forall x, In x l -> f x = 0) -> total f l = 0.
Proof.
  induction l as [|x l IH]; simpl; intros h; [reflexivity|].
  rewrite (h x), IH; auto.
Qed.

Lemma total_swap {A B} (f : A -> B -> N) l others :
  total (fun x => total (f x) others) l = total (fun y => total (fun x => f x y) l) others.
Proof.
  induction l as [|x l IH]; simpl.
  - induction others; simpl; lia.
  - rewrite total_add, IH. reflexivity.
Qed.

Lemma filter_filter_le {A} (f g : A -> bool) l :
  (length (filter f (filter g l)) <= length (filter f l))%nat.
Proof.
  induction l as [|x l IH]; simpl; [lia|].
  destruct (g x); simpl; destruct (f x); simpl; lia.
Qed.

Lemma filter_le {A} (f g : A -> bool) l : (forall x, In x l -> f x = true -> g x = true) ->
  (length (filter f l) <= length (filter g l))%nat.
Proof.
  induction l as [|x l IH]; simpl; intros h; [lia|].
  assert (length (filter f l) <= length (filter g l))%nat by (apply IH; auto).
  specialize (h x (or_introl eq_refl)).
  destruct (f x); [rewrite h by reflexivity|destruct (g x)]; simpl; lia.
Qed.

(* If no key k is used more than r(k) times, all uses cost no more than r(k) times each key's. *)
Lemma total_by_key {A B} (dec : forall x y : B, {x = y} + {x <> y}) (key : A -> B)
  (f r : B -> N) : forall keys s,
  (forall x, In x s -> In (key x) keys) ->
  (forall k, N.of_nat (length (filter (fun x => if dec (key x) k then true else false) s)) <= r k) ->
  total (fun x => f (key x)) s <= total (fun k => r k * f k) keys.
Proof.
  induction keys as [|k keys IH]; intros s known few.
  - destruct s as [|x s]; simpl; [lia|]. destruct (known x (or_introl eq_refl)).
  - pose (here := fun x => if dec (key x) k then true else false).
    rewrite (total_filter _ here). simpl.
    assert (total (fun x => f (key x)) (filter here s) <= r k * f k).
    { apply N.le_trans with (total (fun _ => f k) (filter here s)).
      - apply total_le. intros x h. apply filter_In in h. destruct h as [_ h]. unfold here in h.
        destruct (dec (key x) k) as [->|]; [lia|discriminate].
      - rewrite total_constant, N.mul_comm. apply N.mul_le_mono_r. apply few. }
    assert (total (fun x => f (key x)) (filter (fun x => negb (here x)) s) <=
            total (fun k => r k * f k) keys); [|lia].
    apply IH.
    + intros x h. apply filter_In in h. destruct h as [h not_here].
      destruct (known x h) as [e|]; [|assumption].
      unfold here in not_here. simpl in not_here.
      destruct (dec (key x) k); [discriminate|congruence].
    + intros k'. eapply N.le_trans; [|apply (few k')].
      pose proof (filter_filter_le (fun x => if dec (key x) k' then true else false)
                    (fun x => negb (here x)) s). lia.
Qed.

(* Whatever is needed outside leaves. *)

Definition crosses (c : cut) (t : N) (m : message) : bool :=
  inside c t (from (over m)) && existsb (fun v => negb (inside c (t + 1) v)) (heard m).

Fixpoint crossings (c : cut) (t : N) (steps : list step) : N :=
  match steps with
  | [] => 0
  | s :: others => counted (crosses c t) s + crossings c (t + 1) others
  end.

Lemma all_leave c : forall steps k t left,
  NoDup left -> lawful n p k steps ->
  (forall i v, In i left -> k v i = true -> inside c t v = true) ->
  (forall i, In i left -> exists v, inside c (t + N.of_nat (length steps)) v = false /\
                                    after k steps v i = true) ->
  N.of_nat (length left) <= crossings c t steps.
Proof.
  induction steps as [|s steps IH]; intros k t left once L within outside.
  - destruct left as [|i left]; [simpl; lia|]. exfalso.
    destruct (outside i (or_introl eq_refl)) as [v [o know]]. simpl in *.
    rewrite N.add_0_r in o. rewrite (within i v (or_introl eq_refl) know) in o. discriminate.
  - destruct L as [[rules _] L]. simpl.
    pose (now := fun i => existsb (fun m => crosses c t m && (what m =? i)) s).
    assert (split : length left =
      (length (filter now left) + length (filter (fun i => negb (now i)) left))%nat).
    { clear. induction left as [|i left IH]; simpl; [lia|]. destruct (now i); simpl; lia. }
    assert (length (filter now left) <= length (map what (filter (crosses c t) s)))%nat as first.
    { apply NoDup_incl_length; [apply NoDup_filter, once|].
      intros i h. apply filter_In in h. destruct h as [_ h].
      apply existsb_exists in h. destruct h as [m [hm h]]. apply andb_prop in h.
      destruct h as [h same]. apply N.eqb_eq in same. apply in_map_iff. exists m.
      rewrite filter_In. auto. }
    rewrite map_length in first.
    assert (N.of_nat (length (filter (fun i => negb (now i)) left)) <= crossings c (t + 1) steps).
    { apply (IH (told k s)); [apply NoDup_filter, once|exact L| |].
      - intros i v h know. apply filter_In in h. destruct h as [h stays].
        unfold told in know. apply orb_prop in know. destruct know as [know|know].
        + specialize (within i v h know). unfold inside in *. apply N.leb_le in within.
          apply N.leb_le. lia.
        + apply existsb_exists in know. destruct know as [m [hm know]]. apply andb_prop in know.
          destruct know as [same hear]. apply N.eqb_eq in same.
          destruct (inside c (t + 1) v) eqn:o; [reflexivity|]. exfalso.
          apply negb_true_iff in stays. unfold now in stays.
          assert (existsb (fun m => crosses c t m && (what m =? i)) s = true) as out; [|congruence].
          apply existsb_exists. exists m. split; [exact hm|].
          apply andb_true_intro. split; [|apply N.eqb_eq, same].
          unfold crosses. apply andb_true_intro. split.
          * apply (within i); [exact h|]. rewrite <- same. apply rules, hm.
          * apply existsb_exists. exists v. rewrite o. split; [|reflexivity].
            unfold hears in hear. apply existsb_exists in hear.
            destruct hear as [w [hw e]]. apply N.eqb_eq in e. subst. exact hw.
      - intros i h. apply filter_In in h. destruct h as [h _]. destruct (outside i h) as [v [o know]].
        exists v. split; [|exact know]. rewrite <- o. f_equal. simpl length. lia. }
    unfold counted. lia.
Qed.

(* A step carries no more than all charge. *)

Definition carried (t : N) (s : step) : N :=
  total (fun c => weight c * counted (crosses c t) s) cuts.

Lemma carried_by_message t s :
  carried t s = total (fun m => total (fun c => if crosses c t m then weight c else 0) cuts) s.
Proof.
  rewrite <- total_swap. unfold carried, counted. induction cuts as [|c l IH]; simpl; [reflexivity|].
  rewrite IH. f_equal. clear. induction s as [|m s IH]; simpl; [lia|].
  destruct (crosses c t m); simpl length; lia.
Qed.

Definition channel_dec (x y : channel) : {x = y} + {x <> y}.
Proof. decide equality; try apply N.eq_dec; apply (list_eq_dec N.eq_dec). Defined.

Lemma a_step_carries t k s : wired = true -> legal n p k s -> carried t s <= bill t.
Proof.
  intros w [rules [rooms one]]. rewrite carried_by_message.
  unfold wired in w. rewrite forallb_forall in w.
  pose (lands := fun m : message => hears (hearer (over m)) m).
  assert (wires : forall m, In m s -> into (over m) = [hearer (over m)] /\
            from (over m) < size n /\ hearer (over m) < size n).
  { intros m h. destruct (rules m h) as [hc _]. specialize (w _ hc).
    apply andb_prop in w. destruct w as [w w3]. apply andb_prop in w. destruct w as [w1 w2].
    apply Nat.eqb_eq in w1. apply N.ltb_lt in w2. apply N.ltb_lt in w3.
    unfold hearer in *. destruct (into (over m)) as [|v [|]]; simpl in *; try discriminate; auto. }
  assert (heard_by : forall m v, In m s -> In v (heard m) -> v = hearer (over m)).
  { intros m v h hv. destruct (rules m h) as [_ [hi _]]. apply hi in hv.
    destruct (wires m h) as [e _]. rewrite e in hv. destruct hv as [|[]]; congruence. }
  apply N.le_trans with (total (fun m => gate sends t (from (over m)) +
    gate accepts t (hearer (over m)) + rest t (over m)) (filter lands s)).
  { rewrite (total_filter _ lands).
    rewrite (total_zero _ (filter (fun m => negb (lands m)) s)), N.add_0_r.
    2:{ intros m h. apply filter_In in h. destruct h as [h no]. apply negb_true_iff in no.
      apply total_zero. intros c _. destruct (crosses c t m) eqn:x; [|reflexivity]. exfalso.
      unfold crosses in x. apply andb_prop in x. destruct x as [_ x].
      apply existsb_exists in x. destruct x as [v [hv _]].
      assert (lands m = true); [|congruence]. unfold lands, hears.
      apply existsb_exists. exists v. split; [exact hv|].
      rewrite (heard_by m v h hv). apply N.eqb_refl. }
    apply N.le_trans with (total (fun m => worth t (from (over m)) (hearer (over m)))
                             (filter lands s)).
    2:{ apply total_le. intros m _. unfold rest. lia. }
    apply total_le. intros m h. apply filter_In in h. destruct h as [h _].
    unfold worth. apply total_le. intros c _. unfold value.
    destruct (crosses c t m) eqn:x; [|lia]. unfold crosses in x. apply andb_prop in x.
    destruct x as [x y]. apply existsb_exists in y. destruct y as [v [hv y]].
    rewrite (heard_by m v h hv) in y. rewrite x, y. simpl. lia. }
  rewrite !total_add. unfold bill.
  assert (gates : forall charge (key : message -> node),
    (forall m, In m s -> key m < size n) ->
    (p = One -> forall v, N.of_nat (length (filter
       (fun m => if N.eq_dec (key m) v then true else false) (filter lands s))) <= 1) ->
    total (fun m => gate charge t (key m)) (filter lands s) <=
    total (gate charge t) (numbers (size n))).
  { intros charge key small few. destruct p eqn:port.
    - apply N.le_trans with (total (fun v => 1 * gate charge t v) (numbers (size n))).
      + apply (total_by_key N.eq_dec key (gate charge t) (fun _ => 1)); [|apply few; reflexivity].
        intros m h. apply filter_In in h. apply in_numbers, small, h.
      + apply total_le. intros. lia.
    - unfold gate. rewrite port. rewrite total_constant. lia. }
  repeat apply N.add_le_mono.
  - apply (gates sends (fun m => from (over m))); [intros m h; apply wires, h|]. intros port v.
    destruct (one port v) as [few _]. eapply N.le_trans; [|exact few]. unfold counted.
    assert (length (filter (fun m => if N.eq_dec (from (over m)) v then true else false)
              (filter lands s)) <= length (filter (fun m => N.eqb (from (over m)) v) s))%nat; [|lia].
    eapply Nat.le_trans; [apply filter_filter_le|]. apply filter_le. intros m _.
    destruct (N.eq_dec (from (over m)) v); [|discriminate]. intros _. apply N.eqb_eq. assumption.
  - apply (gates accepts (fun m => hearer (over m))); [intros m h; apply wires, h|].
    intros port v.
    destruct (one port v) as [_ few]. eapply N.le_trans; [|exact few]. unfold counted.
    assert (length (filter (fun m => if N.eq_dec (hearer (over m)) v then true else false)
              (filter lands s)) <= length (filter (hears v) (filter lands s)))%nat.
    { apply filter_le. intros m h. apply filter_In in h. destruct h as [_ h]. unfold lands in h.
      destruct (N.eq_dec (hearer (over m)) v) as [<-|]; [auto|discriminate]. }
    pose proof (filter_filter_le (hears v) lands s). lia.
  - apply (total_by_key channel_dec over (rest t) (fun c => room n (medium c))).
    + intros m h. apply filter_In in h. apply rules, h.
    + intros c. eapply N.le_trans; [|apply (rooms (medium c))]. unfold counted.
      assert (length (filter (fun m => if channel_dec (over m) c then true else false)
                (filter lands s)) <=
              length (filter (fun m => N.eqb (medium (over m)) (medium c)) s))%nat; [|lia].
      eapply Nat.le_trans; [apply filter_filter_le|]. apply filter_le. intros m _.
      destruct (channel_dec (over m) c) as [->|]; [|discriminate]. intros _. apply N.eqb_refl.
Qed.

Lemma all_carry : wired = true -> forall steps k t, lawful n p k steps ->
  total (fun c => weight c * crossings c t steps) cuts <=
  total (fun x => bill (t + x)) (numbers (N.of_nat (length steps))).
Proof.
  intros w steps. induction steps as [|s steps IH]; intros k t L.
  - rewrite (total_zero _ cuts); [simpl; lia|]. intros. simpl. lia.
  - destruct L as [l L]. specialize (IH (told k s) (t + 1) L).
    assert (next : total (fun x => bill (t + x)) (numbers (N.of_nat (length (s :: steps)))) =
            bill t + total (fun x => bill (t + 1 + x)) (numbers (N.of_nat (length steps)))).
    { unfold numbers. rewrite !Nnat.Nat2N.id. simpl length.
      rewrite <- cons_seq, <- seq_shift. simpl. rewrite N.add_0_r. f_equal.
      clear. generalize (seq 0 (length steps)). induction l as [|x l IH]; [reflexivity|].
      cbn [map total fold_right]. unfold total in IH. rewrite IH.
      f_equal. f_equal. lia. }
    rewrite next. pose proof (a_step_carries t k s w l).
    assert (total (fun c => weight c * crossings c t (s :: steps)) cuts =
            carried t s + total (fun c => weight c * crossings c (t + 1) steps) cuts); [|lia].
    unfold carried. rewrite <- total_add. clear. induction cuts as [|c l IH]; [reflexivity|].
    simpl. simpl in IH. lia.
Qed.

Theorem cuts_show most : shows most = true -> takes_more_than n p a most.
Proof.
  intros sure. apply andb_prop in sure. destruct sure as [w less]. apply N.ltb_lt in less.
  apply exactly. intros steps [L D] exact_. subst most.
  pose proof (all_carry w steps (start a) 0 L) as carry.
  enough (total (fun c => weight c * N.of_nat (length (leaving (N.of_nat (length steps)) c))) cuts
          <= total (fun c => weight c * crossings c 0 steps) cuts).
  { assert (total (fun x => bill (0 + x)) (numbers (N.of_nat (length steps))) <=
            total bill (numbers (N.of_nat (length steps)))).
    { apply total_le. intros. rewrite N.add_0_l. lia. }
    lia. }
  apply total_le. intros c _. apply N.mul_le_mono_l.
  apply (all_leave c steps (start a)).
  - apply NoDup_filter, nodup_numbers.
  - exact L.
  - intros i v h know. apply filter_In in h. destruct h as [_ h]. apply andb_prop in h.
    destruct h as [h _]. unfold start in know. apply andb_prop in know. destruct know as [_ own].
    apply N.eqb_eq in own. subst v. exact h.
  - intros i h. apply filter_In in h. destruct h as [hi h]. apply in_numbers in hi.
    apply andb_prop in h. destruct h as [_ h]. apply existsb_exists in h.
    destruct h as [v [hv h]]. apply in_numbers in hv. apply andb_prop in h.
    destruct h as [need out]. exists v. split.
    + apply negb_true_iff in out. rewrite N.add_0_l. exact out.
    + apply D; assumption.
Qed.

End Certificate.

(* Numbers of a certificate, by the node, or by the node and the step. *)

Definition table (default : N) (rows : list (N * N)) : N -> N :=
  let kept := fold_left (fun kept row => PositiveMap.add (N.succ_pos (fst row)) (snd row) kept)
                        rows (PositiveMap.empty N) in
  fun key => match PositiveMap.find (N.succ_pos key) kept with Some x => x | None => default end.

Definition in_step (n : network) (found : N -> N) : N -> node -> N :=
  fun t v => found (t * size n + v).

(* A network of links, each direction its own medium. *)

Definition links (size hosts : N) (ends : list (N * N * N)) : network :=
  let numbered := combine (numbers (N.of_nat (length ends))) ends in
  Network size hosts
    (map (fun each => let '(k, (u, v, _)) := each in Channel u [v] k) numbered)
    (table 0 (map (fun each => let '(k, (_, _, many)) := each in (k, many)) numbered)).

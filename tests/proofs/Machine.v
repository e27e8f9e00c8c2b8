(* The machine: processors and switches, channels with capacities, steps, and what a message does.

   A bound on steps is a theorem about these definitions alone. A node is a number; the first
   `hosts` of them are processors, the others switches, which pass on what they got. A channel leads
   from a node to the nodes that hear it: to one over a link, to all other members over a bus. A
   medium is what channels share: a link's direction (with as many messages in a step as there are
   parallel links), or a bus (with one). *)

From Coq Require Export NArith List Bool Lia.
Export ListNotations.
#[export] Set Warnings "-deprecated".
Open Scope N_scope.

Definition node := N.
Definition item := N.

Record channel := Channel { from : node; into : list node; medium : N }.
Record network := Network {
  size : N; hosts : N; channels : list channel; room : N -> N }.

(* A message goes over a channel, carries an item, and is accepted by some who hear it. *)
Record message := Message { over : channel; what : item; heard : list node }.
Definition step := list message.
Inductive ports := One | All.

Definition knowledge := node -> item -> bool.

Definition hears (v : node) (m : message) : bool := existsb (N.eqb v) (heard m).

Definition told (k : knowledge) (s : step) : knowledge :=
  fun v i => k v i || existsb (fun m => (what m =? i) && hears v m) s.

Definition counted (f : message -> bool) (s : step) : N := N.of_nat (length (filter f s)).

(* A step keeps the rules: who sends knows; no medium carries more than its room; with one port, a
   node sends at most one message and accepts at most one. *)
Definition legal (n : network) (p : ports) (k : knowledge) (s : step) : Prop :=
  (forall m, In m s -> In (over m) (channels n) /\ incl (heard m) (into (over m)) /\
                       k (from (over m)) (what m) = true) /\
  (forall c, counted (fun m => medium (over m) =? c) s <= room n c) /\
  (p = One -> forall v, counted (fun m => from (over m) =? v) s <= 1 /\ counted (hears v) s <= 1).

Fixpoint lawful (n : network) (p : ports) (k : knowledge) (steps : list step) : Prop :=
  match steps with
  | [] => True
  | s :: others => legal n p k s /\ lawful n p (told k s) others
  end.

Definition after (k : knowledge) (steps : list step) : knowledge := fold_left told steps k.

(* A collective: how many items there are, who has each at the beginning, and who needs it. *)
Record task := Task { items : N; owner : item -> node; needs : node -> item -> bool }.

Definition broadcast (root : node) (many : N) : task :=
  Task many (fun _ => root) (fun _ _ => true).
Definition gossip (n : network) (many : N) : task :=
  Task (hosts n * many) (fun i => i / many) (fun _ _ => true).
Definition scatter (n : network) (root : node) : task :=
  Task (hosts n) (fun _ => root) (fun v i => v =? i).
Definition gather (n : network) (root : node) : task :=
  Task (hosts n) (fun i => i) (fun v _ => v =? root).

Definition exchange (n : network) (many : N) : task :=
  Task (hosts n * hosts n * many) (fun i => i / many / hosts n)
       (fun v i => v =? (i / many) mod hosts n).

Definition start (a : task) : knowledge := fun v i => (i <? items a) && (v =? owner a i).

Definition complete (n : network) (a : task) (k : knowledge) : Prop :=
  forall v i, v < hosts n -> i < items a -> needs a v i = true -> k v i = true.

Definition does (n : network) (p : ports) (a : task) (steps : list step) : Prop :=
  lawful n p (start a) steps /\ complete n a (after (start a) steps).

Definition takes_more_than (n : network) (p : ports) (a : task) (most : nat) : Prop :=
  forall steps, does n p a steps -> (most < length steps)%nat.

(* Backwards, an item is combined at its owner of what those who need it contribute. A message brings
   all that its sender has combined of the item; contributions may come more than once. What holds
   for these schedules holds for sums, too, which are stricter. *)

Definition reduce := broadcast.
Definition reducescatter := gossip.

Definition combined := node -> item -> node -> bool.

Definition merged (k : combined) (s : step) : combined :=
  fun v i w => k v i w ||
    existsb (fun m => (what m =? i) && hears v m && k (from (over m)) i w) s.

Definition keeps (n : network) (p : ports) (s : step) : Prop :=
  (forall m, In m s -> In (over m) (channels n) /\ incl (heard m) (into (over m))) /\
  (forall c, counted (fun m => medium (over m) =? c) s <= room n c) /\
  (p = One -> forall v, counted (fun m => from (over m) =? v) s <= 1 /\ counted (hears v) s <= 1).

Definition contributed : combined := fun v _ w => v =? w.

Definition combines (n : network) (p : ports) (a : task) (steps : list step) : Prop :=
  Forall (keeps n p) steps /\
  (forall v i, v < hosts n -> i < items a -> needs a v i = true ->
    fold_left merged steps contributed (owner a i) i v = true).

(* In an allreduce everybody ends with what all have contributed to each item. *)

Definition combines_for_all (n : network) (p : ports) (many : N) (steps : list step) : Prop :=
  Forall (keeps n p) steps /\
  (forall v i w, v < hosts n -> i < many -> w < hosts n ->
    fold_left merged steps contributed v i w = true).

Definition allreduce_takes_more_than (n : network) (p : ports) (many : N) (most : nat) : Prop :=
  forall steps, combines_for_all n p many steps -> (most < length steps)%nat.

Definition combining_takes_more_than (n : network) (p : ports) (a : task) (most : nat) : Prop :=
  forall steps, combines n p a steps -> (most < length steps)%nat.

(* Shorter schedules may wait at their end, so that those of `most` steps are all there are. *)

Lemma lawful_app n p others : forall k steps,
  lawful n p k (steps ++ others) <-> lawful n p k steps /\ lawful n p (after k steps) others.
Proof.
  intros k steps. revert k. induction steps as [|s steps IH]; intros k; simpl; [tauto|].
  rewrite IH. unfold after. simpl. tauto.
Qed.

Lemma told_nothing k v i : told k [] v i = k v i.
Proof. unfold told. simpl. apply orb_false_r. Qed.

Lemma waits n p wait : forall k, lawful n p k (repeat [] wait) /\
  (forall v i, after k (repeat [] wait) v i = k v i).
Proof.
  induction wait as [|wait IH]; intros k; simpl; [auto|].
  destruct (IH (told k [])) as [L A]. split.
  - split; [|exact L]. repeat split; simpl; try contradiction; unfold counted; simpl; lia.
  - intros v i. unfold after in *. simpl. rewrite A. apply told_nothing.
Qed.

Lemma exactly n p a most :
  (forall steps, does n p a steps -> length steps <> most) -> takes_more_than n p a most.
Proof.
  intros never steps [L D]. destruct (Compare_dec.le_lt_dec (length steps) most) as [few|]; [|assumption].
  exfalso. pose (wait := repeat ([] : step) (most - length steps)%nat).
  apply (never (steps ++ wait)).
  - destruct (waits n p (most - length steps) (after (start a) steps)) as [WL WA]. split.
    + apply lawful_app. auto.
    + intros v i hv hi need. unfold after. rewrite fold_left_app.
      fold (after (start a) steps). fold (after (after (start a) steps) wait).
      unfold wait. rewrite WA. apply D; assumption.
  - unfold wait. rewrite app_length, repeat_length. lia.
Qed.

(* Bounds by ways: how much worth of messages each item needs to come where it is needed.

   A message is worth the weights of the cuts that it crosses, as in Cuts.v; here the cuts stay as
   they are from step to step. The worth of the way from one processor to another is at least what
   a table says that grows along no channel by more than a message over it is worth. Each item needs
   the messages of its whole way, through other parts of the network, too: that is more than the
   cuts count between whose sides it passes. *)

From Mpinet Require Import Machine Cuts.
From Coq Require Import PeanoNat.

Section Ways.
Variables (n : network) (p : ports) (a : task) (cuts : list cut).
Variables sends accepts : N -> node -> N.
Variable away : node -> node -> N.
Variable target : item -> node.

Definition fixed (most : N) : bool :=
  forallb (fun c => forallb (fun v => (joins c v =? 0) || (most <? joins c v))
                            (numbers (size n))) cuts.

Definition near : bool :=
  forallb (fun o => (away o o =? 0) &&
    forallb (fun c => away o (hearer c) <=? away o (from c) + worth cuts 0 (from c) (hearer c))
            (channels n))
    (numbers (hosts n)).

Definition asked : bool :=
  forallb (fun i => (owner a i <? hosts n) && (target i <? hosts n) && needs a (target i) i)
          (numbers (items a)).

Definition ways_suffice (most : nat) : bool :=
  wired n && fixed (N.of_nat most) && near && asked &&
  (total (bill n p cuts sends accepts) (numbers (N.of_nat most)) <?
   total (fun i => away (owner a i) (target i)) (numbers (items a))).

Variable most : nat.
Hypothesis wires : wired n = true.
Hypothesis still : fixed (N.of_nat most) = true.
Hypothesis close : near = true.

Lemma wire c : In c (channels n) -> into c = [hearer c] /\ from c < size n /\ hearer c < size n.
Proof.
  intros h. unfold wired in wires. rewrite forallb_forall in wires. specialize (wires c h).
  apply andb_prop in wires. destruct wires as [w w3]. apply andb_prop in w. destruct w as [w1 w2].
  apply Nat.eqb_eq in w1. apply N.ltb_lt in w2. apply N.ltb_lt in w3.
  unfold hearer in *. destruct (into c) as [|v [|]]; simpl in *; try discriminate; auto.
Qed.

Lemma inside_still c t v : In c cuts -> v < size n -> t <= N.of_nat most ->
  inside c t v = inside c 0 v.
Proof.
  intros hc hv ht. unfold fixed in still. rewrite forallb_forall in still.
  specialize (still c hc). rewrite forallb_forall in still.
  specialize (still v (proj2 (in_numbers _ _) hv)). apply orb_prop in still. unfold inside.
  destruct still as [e|e].
  - apply N.eqb_eq in e. rewrite e. destruct t; reflexivity.
  - apply N.ltb_lt in e. transitivity false; [|symmetry]; apply N.leb_gt; lia.
Qed.

Definition cost (t : N) (m : message) : N :=
  total (fun c => if crosses c t m then weight c else 0) cuts.

Lemma cost_of_way t m v : In (over m) (channels n) -> incl (heard m) (into (over m)) ->
  hears v m = true -> t + 1 <= N.of_nat most ->
  v = hearer (over m) /\ worth cuts 0 (from (over m)) v <= cost t m.
Proof.
  intros hc hi hear ht. destruct (wire _ hc) as [alone [hf hh]].
  unfold hears in hear. apply existsb_exists in hear. destruct hear as [x [hx e]].
  apply N.eqb_eq in e. subst x. pose proof (hi _ hx) as e. rewrite alone in e.
  destruct e as [<-|[]]. split; [reflexivity|]. unfold worth, cost. apply total_le. intros c h.
  unfold value. rewrite <- (inside_still c t (from (over m))) by (assumption || lia).
  rewrite N.add_0_l, (inside_still c 1 (hearer (over m))) by (assumption || lia).
  destruct (inside c t (from (over m)) && _) eqn:e; [|lia].
  apply andb_prop in e. destruct e as [inner outer].
  unfold crosses. rewrite inner. simpl.
  assert (existsb (fun v => negb (inside c (t + 1) v)) (heard m) = true) as ->; [|lia].
  apply existsb_exists. exists (hearer (over m)). split; [exact hx|].
  rewrite (inside_still c (t + 1)) by (assumption || lia). exact outer.
Qed.

Fixpoint spent (i : item) (t : N) (steps : list step) : N :=
  match steps with
  | [] => 0
  | s :: others =>
      total (fun m => if what m =? i then cost t m else 0) s + spent i (t + 1) others
  end.

Lemma total_has {A} (f : A -> N) l x : In x l -> f x <= total f l.
Proof.
  induction l as [|y l IH]; simpl; [contradiction|]. intros [->|h]; [lia|]. specialize (IH h). lia.
Qed.

Lemma way_is_paid i o : o < hosts n -> forall steps k t paid, lawful n p k steps ->
  t + N.of_nat (length steps) <= N.of_nat most ->
  (forall v, k v i = true -> away o v <= paid) ->
  forall v, after k steps v i = true -> away o v <= paid + spent i t steps.
Proof.
  intros ho. induction steps as [|s steps IH]; intros k t paid law short before v know.
  - simpl in *. rewrite N.add_0_r. apply before. exact know.
  - destruct law as [[rules _] law]. simpl length in short. cbn [spent]. rewrite N.add_assoc.
    apply (IH (told k s) (t + 1)); [exact law|lia| |exact know].
    clear v know. intros v know. unfold told in know. apply orb_prop in know.
    destruct know as [know|know]; [specialize (before v know); lia|].
    apply existsb_exists in know. destruct know as [m [hm e]]. apply andb_prop in e.
    destruct e as [same hear]. apply N.eqb_eq in same.
    destruct (rules m hm) as [hc [hi knew]]. rewrite same in knew. specialize (before _ knew).
    destruct (cost_of_way t m v hc hi hear) as [e paid_]; [lia|].
    pose proof close as grows. unfold near in grows. rewrite forallb_forall in grows.
    specialize (grows o (proj2 (in_numbers _ _) ho)). apply andb_prop in grows.
    destruct grows as [_ grows]. rewrite forallb_forall in grows. specialize (grows _ hc).
    apply N.leb_le in grows. rewrite <- e in grows.
    pose proof (total_has (fun m => if what m =? i then cost t m else 0) s m hm) as part.
    cbv beta in part. rewrite same, N.eqb_refl in part.
    eapply N.le_trans; [exact grows|]. apply N.add_le_mono; [exact before|].
    eapply N.le_trans; [exact paid_|exact part].
Qed.

Lemma of_one_item (x : N) j l : NoDup l -> total (fun i => if j =? i then x else 0) l <= x.
Proof.
  induction 1 as [|i l new _ IH]; simpl; [lia|]. destruct (j =? i) eqn:e; [|lia].
  apply N.eqb_eq in e. subst i. rewrite total_zero; [lia|]. intros y h.
  destruct (j =? y) eqn:e; [|reflexivity]. apply N.eqb_eq in e. subst y. contradiction.
Qed.

Lemma all_spent l : NoDup l -> forall steps t,
  total (fun i => spent i t steps) l <= total (fun c => weight c * crossings c t steps) cuts.
Proof.
  intros once. induction steps as [|s steps IH]; intros t.
  - rewrite total_zero; [lia|]. reflexivity.
  - cbn [spent]. rewrite total_add. specialize (IH (t + 1)).
    assert (total (fun i => total (fun m => if what m =? i then cost t m else 0) s) l <=
            carried cuts t s) as now.
    { rewrite carried_by_message, total_swap. apply total_le. intros m _. apply of_one_item, once. }
    assert (total (fun c => weight c * crossings c t (s :: steps)) cuts =
            carried cuts t s + total (fun c => weight c * crossings c (t + 1) steps) cuts) as both;
      [|rewrite both; apply N.add_le_mono; assumption].
    unfold carried. rewrite <- total_add. clear. induction cuts as [|c l IH]; [reflexivity|].
    simpl. simpl in IH. lia.
Qed.

End Ways.

Theorem ways_show n p a cuts sends accepts away target most :
  ways_suffice n p a cuts sends accepts away target most = true -> takes_more_than n p a most.
Proof.
  intros sure. unfold ways_suffice in sure. repeat (apply andb_prop in sure; destruct sure as [sure ?]).
  rename sure into w. apply exactly. intros steps [law all] exact_.
  apply N.ltb_lt in H. subst most.
  pose proof (all_carry n p cuts sends accepts w steps (start a) 0 law) as carry.
  pose proof (all_spent cuts (numbers (items a)) (nodup_numbers _) steps 0) as spend.
  assert (total (fun x => bill n p cuts sends accepts (0 + x))
            (numbers (N.of_nat (length steps))) <=
          total (bill n p cuts sends accepts) (numbers (N.of_nat (length steps)))).
  { apply total_le. intros. rewrite N.add_0_l. lia. }
  enough (total (fun i => away (owner a i) (target i)) (numbers (items a)) <=
          total (fun i => spent cuts i 0 steps) (numbers (items a))) by lia.
  apply total_le. intros i hi. unfold asked in H0. rewrite forallb_forall in H0.
  specialize (H0 i hi). apply andb_prop in H0. destruct H0 as [h need]. apply andb_prop in h.
  destruct h as [ho ht]. apply N.ltb_lt in ho. apply N.ltb_lt in ht. apply in_numbers in hi.
  rewrite <- (N.add_0_l (spent _ _ _ _)).
  apply (way_is_paid n p cuts away (length steps) w H2 H1 i (owner a i) ho steps (start a));
    [exact law|lia| |apply all; assumption].
  intros v know. unfold start in know. apply andb_prop in know. destruct know as [_ own].
  apply N.eqb_eq in own. subst v. unfold near in H1. rewrite forallb_forall in H1.
  specialize (H1 _ (proj2 (in_numbers _ _) ho)). apply andb_prop in H1. destruct H1 as [zero _].
  apply N.eqb_eq in zero. lia.
Qed.

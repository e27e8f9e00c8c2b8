(* Reductions over links are what they are backwards: a schedule that combines, with all its messages
   turned round and the last step first, spreads on the network whose links are turned round. *)

From Mpinet Require Import Machine Cuts.
From Coq Require Import PeanoNat.

Definition turned (c : channel) : channel := Channel (hearer c) [from c] (medium c).

Definition reverse (n : network) : network :=
  Network (size n) (hosts n) (map turned (channels n)) (room n).

Section Reversal.
Variables (n : network) (p : ports) (a : task).
Hypothesis wires : wired n = true.

(* The messages of a step, turned round: those that somebody accepted, and whose sender knows. *)

Definition kept (k : knowledge) (m : message) : bool :=
  hears (hearer (over m)) m && k (hearer (over m)) (what m).

Definition turn (m : message) : message := Message (turned (over m)) (what m) [from (over m)].

Definition back (k : knowledge) (s : step) : step := map turn (filter (kept k) s).

Fixpoint backwards (steps : list step) : list step * knowledge :=
  match steps with
  | [] => ([], start a)
  | s :: others =>
      let (done, k) := backwards others in (done ++ [back k s], told k (back k s))
  end.

Lemma backwards_after steps :
  after (start a) (fst (backwards steps)) = snd (backwards steps).
Proof.
  induction steps as [|s steps IH]; [reflexivity|]. simpl.
  destruct (backwards steps) as [done k]. simpl in *. unfold after in *.
  rewrite fold_left_app. simpl. rewrite IH. reflexivity.
Qed.

Lemma backwards_length steps : length (fst (backwards steps)) = length steps.
Proof.
  induction steps as [|s steps IH]; [reflexivity|]. simpl.
  destruct (backwards steps) as [done k]. simpl in *. rewrite app_length, IH. simpl. lia.
Qed.

Lemma single c : In c (channels n) -> into c = [hearer c].
Proof.
  intros h. unfold wired in wires. rewrite forallb_forall in wires. specialize (wires c h).
  apply andb_prop in wires. destruct wires as [w _]. apply andb_prop in w. destruct w as [w _].
  apply Nat.eqb_eq in w. unfold hearer. destruct (into c) as [|v [|]]; try discriminate. reflexivity.
Qed.

Lemma counted_back (f g : message -> bool) k s :
  (forall m, hears (hearer (over m)) m = true -> f (turn m) = true -> g m = true) ->
  counted f (back k s) <= counted g s.
Proof.
  intros h. unfold counted, back. induction s as [|m s IH]; simpl; [lia|].
  destruct (kept k m) eqn:e; simpl.
  - unfold kept in e. apply andb_prop in e. destruct e as [e _].
    destruct (f (turn m)) eqn:x; [rewrite (h m e x)|destruct (g m)]; simpl length; lia.
  - destruct (g m); simpl length; lia.
Qed.

Lemma back_legal k s : keeps n p s -> legal (reverse n) p k (back k s).
Proof.
  intros [rules [rooms one]]. split; [|split].
  - intros m h. unfold back in h. apply in_map_iff in h. destruct h as [m' [<- h]].
    apply filter_In in h. destruct h as [h e]. unfold kept in e. apply andb_prop in e.
    destruct e as [_ e]. destruct (rules m' h) as [hc _]. split; [|split].
    + simpl. apply in_map. exact hc.
    + simpl. apply incl_refl.
    + exact e.
  - intros c. eapply N.le_trans; [|apply (rooms c)]. apply counted_back. intros m _ e. exact e.
  - intros port v. destruct (one port v) as [sends accepts]. split.
    + eapply N.le_trans; [|exact accepts]. apply counted_back. intros m h e. simpl in e.
      apply N.eqb_eq in e. subst v. exact h.
    + eapply N.le_trans; [|exact sends]. apply counted_back. intros m _ e.
      unfold hears in e. simpl in e. rewrite orb_false_r in e. rewrite N.eqb_sym. exact e.
Qed.

Lemma backwards_lawful steps :
  Forall (keeps n p) steps -> lawful (reverse n) p (start a) (fst (backwards steps)).
Proof.
  induction 1 as [|s steps h _ IH]; [exact I|]. simpl.
  pose proof (backwards_after steps) as e. destruct (backwards steps) as [done k]. simpl in *.
  apply lawful_app. split; [exact IH|]. simpl. split; [|exact I]. rewrite e. apply back_legal, h.
Qed.

(* What a contribution went through on its way is told on the way back. *)

Lemma way_back i w v0 : forall steps k, Forall (keeps n p) steps ->
  start a v0 i = true -> fold_left merged steps k v0 i w = true ->
  exists v, k v i w = true /\ snd (backwards steps) v i = true.
Proof.
  induction steps as [|s steps IH]; intros k law own h; simpl in *.
  - exists v0. auto.
  - inversion law as [|? ? [rules _] law']. subst.
    destruct (IH (merged k s) law' own h) as [v [had known]].
    destruct (backwards steps) as [done told_]. simpl in *. unfold merged in had.
    apply orb_prop in had. destruct had as [had|had].
    + exists v. split; [exact had|]. unfold told. rewrite known. reflexivity.
    + apply existsb_exists in had. destruct had as [m [hm had]]. apply andb_prop in had.
      destruct had as [had sent]. apply andb_prop in had. destruct had as [same hear].
      apply N.eqb_eq in same. exists (from (over m)). split; [exact sent|].
      unfold told. apply orb_true_iff. right. apply existsb_exists. exists (turn m). split.
      * unfold back. apply in_map. apply filter_In. split; [exact hm|]. unfold kept.
        destruct (rules m hm) as [hc hi]. pose proof (single _ hc) as alone.
        assert (v = hearer (over m)) as <-.
        { unfold hears in hear. apply existsb_exists in hear. destruct hear as [x [hx e]].
          apply N.eqb_eq in e. subst x. apply hi in hx. rewrite alone in hx.
          destruct hx as [<-|[]]. reflexivity. }
        rewrite hear, same, known. reflexivity.
      * unfold hears. simpl. rewrite same, !N.eqb_refl. reflexivity.
Qed.

Theorem backwards_does steps :
  combines n p a steps -> does (reverse n) p a (fst (backwards steps)).
Proof.
  intros [law all]. split; [apply backwards_lawful, law|]. intros v i hv hi need.
  rewrite backwards_after.
  destruct (way_back i v (owner a i) steps contributed law) as [u [had known]].
  - unfold start. rewrite N.eqb_refl. apply N.ltb_lt in hi. rewrite hi. reflexivity.
  - apply all; assumption.
  - apply N.eqb_eq in had. subst u. exact known.
Qed.

End Reversal.

Theorem backwards_shows n p a most : wired n = true ->
  takes_more_than (reverse n) p a most -> combining_takes_more_than n p a most.
Proof.
  intros w bound steps h. rewrite <- (backwards_length a steps).
  apply bound. apply backwards_does; assumption.
Qed.

(* An allreduce spreads what any one processor contributes: those messages that bring something of it
   are a broadcast from there, on any network. *)

Section Allreduce.
Variables (n : network) (p : ports) (root : node) (many : N).

Definition brings (k : combined) (m : message) : bool :=
  k (from (over m)) (what m) root && (what m <? many).

Fixpoint brought (k : combined) (steps : list step) : list step :=
  match steps with
  | [] => []
  | s :: others => filter (brings k) s :: brought (merged k s) others
  end.

Lemma brought_length steps : forall k, length (brought k steps) = length steps.
Proof. induction steps as [|s steps IH]; intros k; simpl; [|rewrite IH]; reflexivity. Qed.

Lemma brought_spreads steps : forall k known, Forall (keeps n p) steps ->
  (forall v i, i < many -> known v i = k v i root) ->
  lawful n p known (brought k steps) /\
  (forall v i, i < many -> after known (brought k steps) v i = fold_left merged steps k v i root).
Proof.
  induction steps as [|s steps IH]; intros k known law same; simpl; [auto|].
  inversion law as [|? ? [rules [rooms one]] law']. subst.
  destruct (IH (merged k s) (told known (filter (brings k) s)) law') as [L A].
  - intros v i hi. unfold told, merged. rewrite same by assumption. f_equal.
    clear - hi. induction s as [|m s IH]; simpl; [reflexivity|]. unfold brings at 1.
    destruct (N.eqb_spec (what m) i) as [e|no].
    + rewrite e. apply N.ltb_lt in hi. rewrite hi, andb_true_r.
      destruct (k (from (over m)) i root); simpl; rewrite ?e, ?N.eqb_refl, IH; simpl.
      * rewrite andb_true_r. reflexivity.
      * rewrite andb_false_r. reflexivity.
    + apply N.eqb_neq in no. destruct (_ && _); simpl; rewrite ?no, IH; reflexivity.
  - split; [|exact A]. split; [|exact L].
    assert (forall f, counted f (filter (brings k) s) <= counted f s) as fewer.
    { intros f. unfold counted. pose proof (filter_filter_le f (brings k) s). lia. }
    split; [|split].
    + intros m h. apply filter_In in h. destruct h as [h b]. destruct (rules m h).
      unfold brings in b. apply andb_prop in b. destruct b as [b small]. apply N.ltb_lt in small.
      rewrite same by assumption. auto.
    + intros c. eapply N.le_trans; [apply fewer|apply rooms].
    + intros port v. destruct (one port v). split; eapply N.le_trans; eauto.
Qed.

Theorem allreduce_shows most : root < hosts n ->
  takes_more_than n p (broadcast root many) most -> allreduce_takes_more_than n p many most.
Proof.
  intros hr bound steps [law all]. rewrite <- (brought_length steps contributed). apply bound.
  destruct (brought_spreads steps contributed (start (broadcast root many)) law) as [L A].
  - intros v i hi. unfold start. simpl. apply N.ltb_lt in hi. rewrite hi. reflexivity.
  - split; [exact L|]. intros v i hv hi _. rewrite A by exact hi. apply all; assumption.
Qed.

End Allreduce.

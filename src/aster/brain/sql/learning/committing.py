"""Keeping a changeset, deciding about it, and settling a trial: each is one transaction, in which nothing happens
unless all of it does."""

from collections.abc import Sequence

from msgspec.structs import replace

from aster.brain.learning import Claim, Decision, Rows
from aster.brain.sql.connection import Connection
from aster.brain.sql.learning import applying, journal, kept, reverting, shelving, trials
from aster.brain.sql.learning.kept import KeptItem
from aster.contracts.learning import ChangeItem, Changeset, ItemStatus, Trial


def commit(
    db: Connection, changeset: Changeset, *, apply: bool, claim: Claim | None, now: int, rows: Rows
) -> Changeset | None:
    if claim is not None and not journal.held(db, claim, changeset.user_id, now):
        return None
    count = changeset.entries if claim is None else len(claim.numbers)
    changeset = replace(changeset, entries=count, decided_at=now if apply else None)
    number = kept.add(db, changeset)
    if number is None:
        return None
    items = [KeptItem(item=item, row=rows.get(item.place)) for item in changeset.items]
    if apply:
        applying.hold(db, changeset.user_id, items)
        items = [_applied(db, changeset, one, now) for one in items]
    else:
        items = [_laid_out(db, changeset, one, now) for one in items]
    for one in items:
        kept.add_item(db, changeset.user_id, changeset.changeset_id, one)
    if claim is not None:
        journal.done(db, claim, changeset.changeset_id, now)
    return _standing(db, replace(changeset, number=number), items)


def decide(
    db: Connection,
    user_id: str,
    changeset_id: str,
    decision: Decision,
    *,
    by: str,
    now: int,
    places: Sequence[int] = (),
) -> Changeset | None:
    found = kept.held(db, user_id, changeset_id)
    if found is None:
        return None
    changeset, items = found
    chosen = [one for one in items if _decidable(one.item, decision, places)]
    if not chosen:
        return None
    changed = {one.item.place: one for one in _decided(db, changeset, chosen, decision, now)}
    if decision == "revert" and not places:
        open_ = [one for one in items if one.item.status == "proposed"]
        changed |= {one.item.place: _rejected(db, user_id, one) for one in open_}
    for one in changed.values():
        kept.update_item(db, user_id, changeset_id, one)
    items = [changed.get(one.item.place, one) for one in items]
    return _standing(db, replace(changeset, decided_at=now, decided_by=by), items)


def settle(db: Connection, trial: Trial, promotion: Changeset | None, *, now: int, rows: Rows) -> bool:
    if trials.held(db, trial.user_id, trial.trial_id) is None:
        return False
    if promotion is not None:
        done = commit(db, promotion, apply=True, claim=None, now=now, rows=rows)
        if done is None:
            return False
        trial = _promoted(trial, done)
    trials.update(db, trial)
    return True


def _applied(db: Connection, changeset: Changeset, one: KeptItem, now: int) -> KeptItem:
    return applying.apply(db, changeset, one, now) if one.item.status == "proposed" else KeptItem(item=one.item)


def _decided(
    db: Connection, changeset: Changeset, chosen: Sequence[KeptItem], decision: Decision, now: int
) -> list[KeptItem]:
    match decision:
        case "accept":
            applying.hold(db, changeset.user_id, chosen)
            return [applying.apply(db, changeset, one, now) for one in chosen]
        case "reject":
            return [_rejected(db, changeset.user_id, one) for one in chosen]
        case "revert":
            reverting.hold(db, changeset, chosen)
            return [reverting.revert(db, changeset, one, now) for one in reversed(chosen)]


def _decidable(item: ChangeItem, decision: Decision, places: Sequence[int]) -> bool:
    """What was kept by a revert is tried again when it is asked for by name."""
    if places and item.place not in places:
        return False
    wanted: set[ItemStatus] = {"proposed"}
    if decision == "revert":
        wanted = {"applied", "kept"} if places else {"applied"}
    return item.status in wanted


def _laid_out(db: Connection, changeset: Changeset, one: KeptItem, now: int) -> KeptItem:
    """A proposed item as it is kept; a skill lies on the person's shelf from now on, where nothing can use it."""
    if one.item.action != "skill" or one.item.status != "proposed":
        return one
    if shelving.shelve(db, changeset.user_id, one.item, "proposed", now):
        return one
    return KeptItem(item=replace(one.item, status="refused", reason=shelving.TAKEN))


def _rejected(db: Connection, user_id: str, one: KeptItem) -> KeptItem:
    if one.item.action == "skill":
        shelving.withdraw(db, user_id, one.item, approved=False)
    return KeptItem(item=replace(one.item, status="rejected"))


def _standing(db: Connection, changeset: Changeset, items: Sequence[KeptItem]) -> Changeset:
    """A changeset as it stands with these items."""
    changeset = replace(
        changeset, items=tuple(one.item for one in items), status=kept.standing({one.item.status for one in items})
    )
    kept.update(db, changeset)
    return changeset


def _promoted(trial: Trial, done: Changeset) -> Trial:
    """A trial with the record that it became; retired when memory did not take it."""
    for item in done.items:
        if item.status == "applied":
            return replace(trial, record_id=item.record_id)
    reason = next((item.reason for item in done.items if item.reason), trial.reason)
    return replace(trial, status="retired", reason=reason)

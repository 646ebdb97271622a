import { useLoaded } from "../../lib/loaded.ts";
import { Back } from "../../ui/back.tsx";
import { Loading, Problem } from "../../ui/page.tsx";
import { ChangesetCard } from "./changeset-card.tsx";
import { learning } from "./learning.ts";

/** One changeset, whole. */
export function ChangesetView({ id, version }: { id: string; version: number }) {
  const found = useLoaded(() => learning.changeset(id), [id, version]);
  return (
    <>
      <Back href="/learning/changes">All changes</Back>
      {found.error ? <Problem error={found.error} again={found.again} /> : null}
      {found.value?.changeset_id === id ? (
        <ChangesetCard key={id} given={found.value} />
      ) : found.error ? null : (
        <Loading />
      )}
    </>
  );
}

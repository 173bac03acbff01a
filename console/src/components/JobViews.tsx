import { useState } from "preact/hooks";
import { go, usePlace } from "../router.ts";
import { readViews, viewQuery, withView, type JobView } from "../text/job_views.ts";
import { visible } from "../text/plain.ts";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Icon } from "./Icon.tsx";
import { Link } from "./Link.tsx";
import { Text } from "./Text.tsx";

const KEY = "trainyard.job-views";

/** Views of the table of jobs that this browser keeps: filter, columns, order and group under a name. */
export function JobViews({ path }: { readonly path: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}><Icon name="star" /> Views</Button>
      {open && <Views path={path} onClose={() => setOpen(false)} />}
    </>
  );
}

function Views({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const [views, setViews] = useState(() => readViews(localStorage.getItem(KEY)));
  const [name, setName] = useState("");
  const query = viewQuery(usePlace().query);
  const keep = (next: readonly JobView[]) => {
    localStorage.setItem(KEY, JSON.stringify(next));
    setViews(next);
  };
  const save = (event: Event) => {
    event.preventDefault();
    if (name.trim() === "") return;
    keep(withView(views, { name: name.trim(), query }));
    setName("");
  };
  return (
    <Dialog title="Views" onClose={onClose}>
      <div class="stack job-view-choice">
        {views.length === 0
          ? <p class="soft">A view is a filter with its columns, order and groups. None is saved in this browser yet.</p>
          : (
            <ul class="job-views">
              {views.map((view) => (
                <li key={view.name} class="spread">
                  <span onClick={onClose}>
                    <Link to={`${path}?${view.query}`} current={view.query === query}><Text value={view.name} longest={60} /></Link>
                  </span>
                  <Button kind="quiet" label={`Remove the view ${view.name}`} onClick={() => keep(views.filter((one) => one !== view))}>
                    <Icon name="trash" />
                  </Button>
                </li>
              ))}
            </ul>
          )}
        <form class="row" onSubmit={save}>
          <label class="row">
            Save what is shown as
            <input class="field" value={name} maxLength={60} onInput={(event) => setName(visible(event.currentTarget.value))} />
          </label>
          <Button type="submit" disabled={name.trim() === "" || query === ""}
                  {...(query === "" ? { title: "Filter, sort or group the jobs first, or choose columns" } : {})}>Save</Button>
        </form>
        <p class="soft">To share a view, copy the page's address: everyone who opens it sees the same.</p>
      </div>
      <div class="actions">
        <Button onClick={() => { go(path); onClose(); }}>All jobs</Button>
        <Button kind="main" onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

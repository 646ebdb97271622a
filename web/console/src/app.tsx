// The console: the shell around every page, and which page an address means.

import { Suspense } from "preact/compat";
import { Route, Router, Switch } from "wouter-preact";
import { KeyDialog } from "./shell/key-dialog.tsx";
import { PAGES } from "./shell/pages.ts";
import { Shell } from "./shell/shell.tsx";
import { Loading } from "./ui/page.tsx";

export function App() {
  return (
    <Router base="/console">
      <Shell>
        <Suspense fallback={<Loading />}>
          <Switch>
            {PAGES.map(({ path, route, view: View }) => (
              <Route key={path} path={route}>
                <View />
              </Route>
            ))}
          </Switch>
        </Suspense>
      </Shell>
      <KeyDialog />
    </Router>
  );
}

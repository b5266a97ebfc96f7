// A server that does not answer: said once at the top, with since when; the page stays and goes on by itself.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { lostSince, tryNow } from "../server/client";
import { Button } from "../ui/button";
import { Icon } from "../ui/icon";
import { server } from "./session";

export function Banner(): JSX.Element | null {
  const since = lostSince.value;
  const [, tick] = useState(0);
  useEffect(() => {
    if (since === null) return;
    const timer = setInterval(() => tick((round) => round + 1), 1000);
    return () => clearInterval(timer);
  }, [since]);
  if (since === null) return null;
  const command = server.value?.auth === false ? "strobe ui" : "strobe server";
  return (
    <div class="banner" role="status">
      <Icon name="plug" />
      <span>
        <strong>The server does not answer</strong> since {new Date(since).toLocaleTimeString("en-GB")}. This
        page goes on by itself when it is back; <code>{command}</code> starts it.
      </span>
      <Button onClick={tryNow}>Try now</Button>
    </div>
  );
}

import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/preact";
import { afterEach, expect, it, vi } from "vitest";
import { useJson } from "../src/api/use.ts";
import { AsOf } from "../src/components/AsOf.tsx";

afterEach(() => {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function Page() {
  return <AsOf of={[useJson("/x")]} />;
}

it("says how old the page is, and since when there was no answer", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date(2026, 0, 2, 3, 4, 5) });
  let answer = () => new Response("{}");
  vi.stubGlobal("fetch", async () => answer());
  render(<Page />);
  await screen.findByText(/^as of 03:04:05 UTC/);
  vi.setSystemTime(new Date(2026, 0, 2, 3, 5, 0));
  const again = () => act(() => void fireEvent.click(screen.getByLabelText("Ask again")));
  await again();
  await screen.findByText(/^as of 03:05:00 UTC/);
  vi.setSystemTime(new Date(2026, 0, 2, 3, 6, 0));
  answer = () => new Response("", { status: 500 });
  await again();
  await waitFor(() => expect(screen.getByRole("status").textContent).toMatch(/^no answer, as of 03:05:00 UTC/));
});

import { type ChartView, summary, xWord } from "../text/chart_view.ts";
import { Text } from "./Text.tsx";

/** A chart in figures and words, for who does not see it or wants them. */
export function ChartTable({ view }: { readonly view: ChartView }) {
  return (
    <>
      <table>
        <thead>
          <tr><th scope="col">Curve</th><th scope="col" class="number">Least</th><th scope="col" class="number">Greatest</th>
            <th scope="col" class="number">Last</th><th scope="col" class="number">Points</th></tr>
        </thead>
        <tbody>
          {view.curves.map((curve) => summary(view, curve)).map((row) => (
            <tr key={row.key}>
              <th scope="row"><Text value={row.name} longest={80} /></th>
              <td class="number">{row.least}</td><td class="number">{row.greatest}</td><td class="number">{row.last}</td>
              <td class="number">{row.points.toLocaleString("en-US")}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {view.marks.length > 0 && (
        <ul class="marks">
          {view.marks.map((mark, at) => (
            <li key={at}>{xWord(view, mark.x)} <Text value={mark.text || mark.word} longest={300} /></li>
          ))}
        </ul>
      )}
    </>
  );
}

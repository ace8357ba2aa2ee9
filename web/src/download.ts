/** Saves the plotted values as files. */
import type { Series } from "./api";
import { h } from "./dom";

const field = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Long CSV, which limpet can read: time,component,metric,value and the values of the peers. */
export function tableOf(list: Series[]): string {
  const lines = ["time,component,metric,value,unit,peers_median,peers_low,peers_high"];
  for (const s of list) {
    s.t.forEach((t, i) => lines.push([new Date(t * 1000).toISOString(), field(s.component), field(s.metric), s.value[i] ?? "", field(s.unit),
      s.median[i] ?? "", s.low[i] ?? "", s.high[i] ?? ""].join(",")));
  }
  return `${lines.join("\n")}\n`;
}

export function save(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: url, download: name.replace(/[^\w.-]+/g, "_") });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

/** Dialogs: acknowledge, mute, add a note, sign in, help. */
import { api, type Incident } from "./api";
import { h } from "./dom";

const NAME_KEY = "limpet operator";
let open: HTMLDialogElement | null = null;

export const dialogOpen = () => open?.open === true;

function storedName(): string {
  try {
    return localStorage.getItem(NAME_KEY) ?? "";
  } catch {
    return "";
  }
}
function storeName(name: string): void {
  try {
    localStorage.setItem(NAME_KEY, name);
  } catch {
    /* without storage, the page asks again */
  }
}

/** Show a dialog; resolves when it is closed. */
function show(label: string, ...content: (Node | string)[]): Promise<void> {
  const before = document.activeElement as HTMLElement | null;
  const dialog = h("dialog", { "aria-label": label, class: "card" }, ...content);
  document.body.append(dialog);
  dialog.showModal();
  open = dialog;
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    open = null;
    dialog.remove();
    before?.focus({ preventScroll: true });
    resolve();
  }));
}
const close = () => open?.close();

function field(label: string, input: HTMLElement): HTMLElement {
  return h("label", { class: "field" }, h("span", {}, label), input);
}

/** Ask for a name and a text; `send` gets the fields, and its result is returned. */
function ask(title: string, incident: Incident, button: string, fields: { name: string; label: string; input: HTMLInputElement | HTMLSelectElement }[],
  send: (values: Record<string, string>) => Promise<Incident>, done: (incident: Incident) => void): void {
  const who = h("input", { name: "by", value: storedName(), required: true, autocomplete: "username", maxlength: 100 });
  const wrong = h("p", { class: "wrong", role: "alert" });
  const ok = h("button", { type: "submit", class: "primary" }, button);
  const form = h("form", { method: "dialog" }, h("h2", {}, title), h("p", { class: "hint" }, incident.what),
    field("Your name", who), ...fields.map((f) => field(f.label, f.input)), wrong,
    h("div", { class: "buttons" }, h("button", { type: "button", onclick: close }, "Cancel"), ok));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    storeName(who.value);
    ok.disabled = true;
    try {
      const values = Object.fromEntries(fields.map((f) => [f.name, f.input.value]).filter(([, value]) => value !== ""));
      done(await send({ by: who.value, ...values }));
      close();
    } catch (error) {
      wrong.textContent = `That did not work: ${(error as Error).message}.`;
    }
    ok.disabled = false;
  });
  void show(title, form);
  (who.value ? fields[0]?.input ?? who : who).focus();
}

const text = (name: string, required = false) => h("input", { name, maxlength: 1000, required, autocomplete: "off" });

export function acknowledge(incident: Incident, done: (incident: Incident) => void): void {
  const id = String(incident.id);
  if (incident.acknowledged) {
    void api.undo(id, "ack").then(done, (error: Error) => alertUser(error.message));
    return;
  }
  ask("Acknowledge", incident, "Acknowledge", [{ name: "comment", label: "Comment (may be empty)", input: text("comment") }],
    (values) => api.act(id, "ack", values), done);
}

const MUTE_TIMES: [string, string][] = [["1h", "1 hour"], ["2h", "2 hours"], ["8h", "8 hours"], ["24h", "1 day"], ["168h", "1 week"]];

export function mute(incident: Incident, done: (incident: Incident) => void): void {
  const id = String(incident.id);
  if (incident.muted) {
    void api.undo(id, "mute").then(done, (error: Error) => alertUser(error.message));
    return;
  }
  const time = h("select", { name: "for" }, ...MUTE_TIMES.map(([value, words]) => h("option", { value }, words)));
  ask("Mute", incident, "Mute", [{ name: "for", label: "For", input: time }, { name: "comment", label: "Reason (may be empty)", input: text("comment") }],
    (values) => api.act(id, "mute", values), done);
}

export function comment(incident: Incident, done: (incident: Incident) => void): void {
  ask("Add a note", incident, "Add", [{ name: "text", label: "Note", input: text("text", true) }],
    (values) => api.act(String(incident.id), "comment", values), done);
}

function alertUser(sentence: string): void {
  void show("Error", h("h2", {}, "That did not work"), h("p", {}, sentence),
    h("div", { class: "buttons" }, h("button", { type: "button", class: "primary", onclick: close }, "Close")));
}

const KEYS: [string, string][] = [["j", "next incident"], ["k", "previous incident"], ["a", "acknowledge it, or undo that"],
  ["m", "mute it, or undo that"], ["n", "add a note"], ["/", "search"], ["Esc", "leave the search, close what is open"], ["?", "this help"]];

export function help(): void {
  void show("Keyboard and mouse", h("h2", {}, "Keyboard"),
    h("dl", { class: "keys" }, ...KEYS.flatMap(([k, what]) => [h("dt", {}, h("kbd", {}, k)), h("dd", {}, what)])),
    h("h2", {}, "Plots"), h("p", {}, "Drag across a plot to zoom all of them, double-click to zoom out. The address of the page is what you see: copy it to share it."),
    h("div", { class: "buttons" }, h("button", { type: "button", class: "primary", onclick: close }, "Close")));
}

let asking = false;

/** The collector requires a login: ask for the token of an operator, once. */
export async function signIn(): Promise<boolean> {
  if (asking) return false;
  asking = true;
  let ok = false;
  const token = h("input", { name: "token", type: "password", required: true, autocomplete: "current-password" });
  const wrong = h("p", { class: "wrong", role: "alert" });
  const form = h("form", {}, h("h2", {}, "Sign in"), h("p", { class: "hint" }, "The collector asks for an operator's token. ",
    h("code", {}, "limpet serve enroll --operator NAME"), " prints one."), field("Token", token), wrong,
    h("div", { class: "buttons" }, h("button", { type: "submit", class: "primary" }, "Sign in")));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await api.login(token.value);
      ok = true;
      close();
    } catch (error) {
      wrong.textContent = `${(error as Error).message}`;
    }
  });
  await show("Sign in", form);
  asking = false;
  return ok;
}

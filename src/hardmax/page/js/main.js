// The shell of the page: two rooms, their state in the URL, a worker for exact arithmetic, help, and scripting.
import { el, messageOf } from "./dom.js";
import { DynamicsRoom } from "./dynamics.js";
import { exactLimit, makeCertificate } from "./exact.js";
import { exactLayer, exactLayers, exactRun } from "./layers.js";
import { classifyHere, mountReviews } from "./reviews.js";
import { loadModel } from "./text.js";
import { verify } from "./verify.js";

/** What a page begins with; models are packed, see `unpackModel`; `home` is the address of the documentation.
 * @typedef {{version: string, room?: "dynamics" | "reviews", models?: {name: string, data: string}[], model?: string,
 *     cloud?: Values, text?: string, home?: string}} PageData
 *
 * What a room gets from the shell: `announce` tells screen readers and shows the line below the tabs; `fail` shows an
 * error in one line, an empty one takes it away; `attempt` shows what went wrong; `changed` is for when `state()` has
 * changed; `link` is the address with the state, if there is one; `openModel` shows a model in the room for texts;
 * `compute` is `exactRun` in a worker, and `check` is `verify`; `embedded` is for notebooks: one room, without a URL.
 * @typedef {{data: PageData, announce: (message: string) => void, fail: (message: string) => void,
 *     attempt: (action: () => unknown) => Promise<void>, changed: () => void, link: (() => string) | null,
 *     openModel: (files: File[], folder: string) => void,
 *     compute: (tokens: string[][], options: any) => Promise<any>, check: (certificate: Uint8Array,
 *     progress: (words: string) => void) => {verdict: Promise<any>, stop: () => void},
 *     calm: boolean, embedded: boolean}} Context
 *
 * What a notebook sees of a room, and may set.
 * @typedef {{tokens?: (string | number)[][], alpha?: string, metric?: (string | number)[][] | null,
 *     mask?: "causal" | null, value?: (string | number)[][] | null, attention?: string | null,
 *     layer?: number | "limit", text?: string}} Values
 *
 * What the shell gets from a room: `state` is what the URL keeps; what `restore` is given is not to be trusted; `keys`
 * are pairs of a key and what it does; `key` says whether it was used; of values that are set the others stay.
 * @typedef {{state: () => Record<string, string>, restore: (state: Record<string, string>) => void,
 *     keys: [string, string][], key: (event: KeyboardEvent) => boolean, shown: () => void, hidden: () => void,
 *     values: () => Values, setValues: (values: Values) => void, open?: (files: File[], folder: string) => void}} Room */

/** @type {{name: string, title: string, mount: (panel: HTMLElement, context: Context) => Room}[]} */
const ROOMS = [
    { name: "dynamics", title: "Dynamics", mount: (panel, context) => new DynamicsRoom(panel, context) },
    { name: "reviews", title: "Texts", mount: mountReviews },
];

/** What a link may say. */
const LINK_PARTS = ["room", "tokens", "names", "cloud", "alpha", "metric", "value", "mask", "attention", "layer", "selected",
    "show", "view", "tour", "ask", "lock", "text", "model", "out"];

export function startPage(/** @type {Function} */ source) {
    const data = /** @type {PageData} */ (JSON.parse(document.getElementById("hm-data")?.textContent ?? "{}"));
    const root = el("div", { id: "hm-app" });
    const still = document.getElementById("hm-static");
    still?.replaceWith(root, ...still.querySelectorAll(".hardmax-kept")); // which model, and what of it is here
    mountShell(root, data, source);
    // For whoever wants to script the page. Everything is exact, or says that it is not.
    const kernels = { limit: exactLimit, step: exactLayer, layers: exactLayers, certificate: makeCertificate, verify, loadModel };
    Object.assign(window, { hardmax: { version: data.version, ...kernels, classify: classifyHere } });
}

const MOST_CHECKING = 600_000; // milliseconds

/** Limits are computed in a worker, and certificates are checked. What goes wrong there is tried again, and told, by the
 * page. */
export function startWorker() {
    self.addEventListener("message", ({ data: { tokens, options, certificate } }) => {
        const progress = (/** @type {string} */ words) => self.postMessage(words);
        self.postMessage(tokens ? exactRun(tokens, options) : verify(certificate, { budget: MOST_CHECKING, progress }));
    });
}

/** In a notebook `report` is called when the state of the room has changed. @param {HTMLElement} root
 * @param {PageData} data @param {Function} source @param {((room: Room) => void) | null} [report] */
function mountShell(root, data, source, report = null) {
    const embedded = report !== null;
    const status = el("p", { class: "hm-status", role: "status" });
    const problem = el("p", { class: "hm-problem", role: "alert", hidden: true });
    const tabs = el("div", { class: "hm-tabs", role: "tablist", "aria-label": "Rooms", hidden: embedded });
    const help = el("dialog", { class: "hm-help", "aria-label": "Keys" });
    const name = data.home ? el("a", { href: data.home, target: "_top" }, "hardmax") : "hardmax";
    const heading = el("h1", { hidden: embedded }, name);
    const keys = el("button", { click: showHelp, title: "Keys", "aria-label": "Keys" }, "?");
    const header = el("header", { class: "hm-head" }, heading, tabs, keys);
    const main = el(embedded ? "div" : "main");
    root.append(header, problem, status, main, help);
    const fail = (/** @type {string} */ message) => {
        [problem.textContent, problem.hidden] = [message, !message];
        if (message) problem.scrollIntoView({ block: "nearest" });
    };
    // The base of a document in `srcdoc` is the page around it: its URL is none of ours.
    const hasUrl = !embedded && location.protocol !== "about:";
    /** @type {Context} */
    const context = {
        data, embedded, fail, attempt, changed: keepState, ...askWorker(source), announce: () => {},
        link: hasUrl ? () => `${location.href.split("#")[0]}#${stateText()}` : null,
        openModel: (files, folder) => {
            const texts = rooms.find(({ room }) => room.open);
            if (!texts) return fail("Here are no texts: open a model folder in the whole page.");
            show(texts);
            texts.room.open?.(files, folder);
        },
        calm: matchMedia("(prefers-reduced-motion: reduce)").matches,
    };
    // Copied from the source of a document, the parts of a link are separated by `&amp;`.
    const given = new URLSearchParams(embedded ? "" : location.hash.slice(1).replace(/&amp;/g, "&"));
    const unknown = [...given.keys()].filter((part) => !LINK_PARTS.includes(part));
    if (unknown.length) fail(`The link has a part that this page does not know: “${unknown[0].trim().slice(0, 20)}”.`);
    const asked = given.get("room") ?? data.room ?? "";
    const wanted = ROOMS.find((room) => [room.name, room.title.toLowerCase()].includes(asked)) ?? ROOMS[0];
    let timer = 0;
    const rooms = (embedded ? [wanted] : ROOMS).map(({ name, title, mount }) => {
        const [id, labelId] = [`hm-${name}`, `hm-tab-${name}`];
        const panel = el("section", { class: "hm-room", id, role: "tabpanel", "aria-labelledby": labelId });
        const tab = el("button", { id: labelId, role: "tab", "aria-controls": id, click: () => show(made) }, title);
        tabs.append(tab);
        main.append(panel);
        // What a room says while another one is shown is not heard.
        const announce = (/** @type {string} */ message) => void (panel.hidden || (status.textContent = message));
        const made = { name, title, panel, tab, room: mount(panel, { ...context, announce }) };
        return made;
    });
    let current = rooms.find(({ name }) => name === wanted.name) ?? rooms[0];
    attempt(() => given.size && current.room.restore(Object.fromEntries(given)));
    show(current);
    tabs.addEventListener("keydown", ({ key }) => {
        if (key !== "ArrowRight" && key !== "ArrowLeft") return;
        show(rooms[(rooms.indexOf(current) + 1) % rooms.length]); // there are two
        current.tab.focus();
    });
    (embedded ? root : document).addEventListener("keydown", (/** @type {any} */ event) => {
        const typing = event.target instanceof HTMLElement && event.target.matches("input, textarea, select");
        const passes = !typing || event.key === "Escape";
        if (!passes || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
        if (event.key === "?") showHelp();
        else if (current.room.key(event)) event.preventDefault();
    });
    return {
        set: (/** @type {Values} */ values) => attempt(() => current.room.setValues(values)),
        close: () => current.room.hidden(),
    };

    function show(/** @type {typeof rooms[0]} */ chosen) {
        if (chosen !== current) current.room.hidden();
        current = chosen;
        for (const each of rooms) {
            each.panel.hidden = each !== chosen;
            each.tab.setAttribute("aria-selected", String(each === chosen));
            each.tab.tabIndex = each === chosen ? 0 : -1;
        }
        status.textContent = "";
        attempt(() => chosen.room.shown());
        keepState();
    }

    function keepState() {
        if (embedded && timer) return; // Python follows the mouse
        clearTimeout(timer);
        // Browsers refuse more than a few changes a second.
        timer = window.setTimeout(() => {
            timer = 0;
            report?.(current.room);
            if (hasUrl) location.replace(`#${stateText()}`);
        }, embedded ? 50 : 300);
    }

    function stateText() {
        return String(new URLSearchParams({ room: current.title.toLowerCase(), ...current.room.state() }));
    }

    function showHelp() {
        const rows = [...current.room.keys, ["?", "show the keys"]].map(([key, does]) =>
            el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, does)));
        const close = el("button", { click: () => help.close() }, "Close");
        help.replaceChildren(el("h2", {}, "Keys"), el("table", {}, el("tbody", {}, ...rows)), close);
        help.showModal();
    }

    async function attempt(/** @type {() => unknown} */ action) {
        try {
            await action();
        } catch (error) {
            fail(messageOf(error));
        }
    }
}

/** Computes in workers made from the bundle, so that it runs from a disk, too; here, if there are none. A new cloud makes
 * the one before it moot: its worker is stopped, and nobody is answered.
 * @param {Function} source @returns {Pick<Context, "compute" | "check">} */
function askWorker(source) {
    const url = URL.createObjectURL(new Blob([`(${source})().startWorker();`], { type: "text/javascript" }));
    let computing = /** @type {Worker | null} */ (null);
    /** @type {(question: any, here: () => any, progress?: (words: string) => void) => [Worker | null, Promise<any>]} */
    function ask(question, here, progress = () => {}) {
        let worker = /** @type {Worker | null} */ (null);
        const answer = new Promise((resolve, reject) => {
            const onerror = () => Promise.resolve().then(here).then(resolve, reject);
            const onmessage = (/** @type {MessageEvent} */ { data }) => (typeof data === "string" ? progress : resolve)(data);
            // Some hosts of notebooks allow no workers.
            try {
                worker = Object.assign(new Worker(url), { onerror, onmessage });
                worker.postMessage(question);
            } catch {
                onerror();
            }
        });
        return [worker, answer];
    }
    return {
        compute: (tokens, options) => {
            computing?.terminate();
            const [worker, answer] = ask({ tokens, options }, () => exactRun(tokens, options));
            computing = worker;
            return answer;
        },
        check: (certificate, progress) => {
            const [worker, verdict] = ask({ certificate }, () => verify(certificate), progress);
            return { verdict, stop: () => worker?.terminate() };
        },
    };
}

/** The widget for anywidget: the traits of the model are the values of the room. @param {Function} source */
export function renderWidget(source) {
    return (/** @type {{model: any, el: HTMLElement}} */ { model, el: root }) => {
        root.classList.add("hm-page", "hm-widget");
        root.dataset.lmSuppressShortcuts = "true"; // JupyterLab's keys are not for what is in here
        const last = /** @type {Record<string, string>} */ ({});
        /** Whether a value is new; it is remembered. @type {(name: string, value: any) => boolean} */
        const isNew = (name, value) => last[name] !== (last[name] = JSON.stringify(value));
        const data = { ...model.get("_data") };
        // What is shown a second time begins with what it is now.
        if (data.room === "reviews") data.text = model.get("text");
        else data.cloud = { tokens: model.get("tokens"), alpha: model.get("alpha"), metric: model.get("metric") };
        const shell = mountShell(root, data, source, (room) => {
            const changes = Object.entries(room.values()).filter(([name, value]) => isNew(name, value));
            for (const [name, value] of changes) model.set(name, value);
            if (changes.length) model.save_changes();
        });
        const listeners = ["tokens", "alpha", "metric", "layer", "text"].map((name) => {
            const follow = () => isNew(name, model.get(name)) && shell.set({ [name]: model.get(name) });
            model.on(`change:${name}`, follow);
            return () => model.off(`change:${name}`, follow);
        });
        return () => [...listeners, shell.close].forEach((stop) => stop());
    };
}

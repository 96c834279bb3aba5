// The shell of the page: two rooms, their state in the URL, a worker for exact arithmetic, help, and scripting.
import { el } from "./dom.js";
import { mountDynamics } from "./dynamics.js";
import { exactAttended, exactLayers, exactLimit, makeCertificate } from "./exact.js";
import { classifyHere, mountReviews } from "./reviews.js";
import { loadModel } from "./text.js";
import { verify } from "./verify.js";

/**
 * What a page begins with.
 * @typedef {object} PageData
 * @property {string} version
 * @property {"dynamics" | "reviews"} [room]
 * @property {{tokens: (string | number)[][], alpha?: string, metric?: (string | number)[][] | null, name?: string}} [cloud]
 * @property {{name: string, data: string}[]} [models] packed models; see `unpackModel`
 * @property {string} [model] name of the one to begin with
 * @property {string} [text] a text to classify
 */

/**
 * What a room gets from the shell.
 * @typedef {object} Context
 * @property {PageData} data
 * @property {(message: string) => void} announce tells screen readers, and shows the line below the tabs
 * @property {(message: string) => void} fail shows an error in one line; an empty one takes it away
 * @property {() => void} changed call it when `state()` has changed: the URL follows
 * @property {<T>(method: string, ...args: any[]) => Promise<T>} compute runs a function of `WORK` in the worker
 * @property {boolean} calm whether the visitor prefers reduced motion
 * @property {boolean} embedded in a notebook: one room among other things, with no URL and no keys of its own
 */

/**
 * What a notebook sees of a room, and may set.
 * @typedef {object} Values
 * @property {(string | number)[][]} [tokens]
 * @property {string} [alpha]
 * @property {(string | number)[][] | null} [metric]
 * @property {number | "limit"} [layer]
 * @property {string} [text]
 */

/**
 * What the shell gets from a room.
 * @typedef {object} Room
 * @property {() => Record<string, string>} state what the URL keeps
 * @property {(state: Record<string, string>) => void} restore untrusted: check everything
 * @property {[string, string][]} keys and what they do
 * @property {(event: KeyboardEvent) => boolean} [key] whether it was used
 * @property {() => void} [shown]
 * @property {() => void} [hidden]
 * @property {() => Values} [values] for notebooks
 * @property {(values: Values) => void} [setValues] those that are given; the others stay
 */

const ROOMS = { dynamics: { title: "Dynamics", mount: mountDynamics }, reviews: { title: "Reviews", mount: mountReviews } };

/** What the worker can be asked for. @type {Record<string, (...args: any[]) => any>} */
const WORK = { limit: exactLimit, layers: exactLayers, attended: exactAttended, certificate: makeCertificate, verify };

/** @param {Function} source the whole bundle */
export function startPage(source) {
    const data = /** @type {PageData} */ (JSON.parse(document.getElementById("hm-data")?.textContent ?? "{}"));
    const root = el("div", { id: "hm-app" });
    document.getElementById("hm-static")?.replaceWith(root);
    mountShell(root, data, source);
    Object.assign(window, { hardmax: scripting(data) });
}

/** Answers messages {id, method, args} with {id, result} or {id, error}. */
export function startWorker() {
    self.addEventListener("message", ({ data: { id, method, args } }) => {
        try {
            self.postMessage({ id, result: WORK[method](...args) });
        } catch (error) {
            self.postMessage({ id, error: messageOf(error) });
        }
    });
}

/**
 * @param {HTMLElement} root
 * @param {PageData} data
 * @param {Function} source
 * @param {((room: Room) => void) | null} [report] in a notebook: called when the state of the room has changed
 * @returns {{set: (values: Values) => void, close: () => void}}
 */
function mountShell(root, data, source, report = null) {
    const embedded = report !== null;
    const status = el("p", { class: "hm-status", role: "status" });
    const problem = el("p", { class: "hm-problem", role: "alert", hidden: true });
    const tabs = el("div", { class: "hm-tabs", role: "tablist", "aria-label": "Rooms" });
    const help = el("dialog", { class: "hm-help", "aria-label": "Keys" });
    const header = el("header", { class: "hm-head" }, tabs, el("button", { click: showHelp, title: "Keys" }, "?"));
    root.append(header, problem, status, help);

    /** @type {Context} */
    const context = {
        data,
        announce: (message) => void (status.textContent = message),
        fail: (message) => {
            problem.textContent = message;
            problem.hidden = !message;
        },
        changed: keepState,
        compute: askWorker(source),
        calm: matchMedia("(prefers-reduced-motion: reduce)").matches,
        embedded,
    };
    const given = new URLSearchParams(embedded ? "" : location.hash.slice(1));
    const wanted = given.get("room") ?? data.room ?? "dynamics";
    const all = /** @type {(keyof typeof ROOMS)[]} */ (Object.keys(ROOMS));
    const first = all.find((name) => name === wanted) ?? "dynamics";
    const names = embedded ? [first] : all;
    tabs.hidden = embedded;
    /** @type {Map<string, {room: Room, panel: HTMLElement, tab: HTMLElement}>} */
    const mounted = new Map();
    let current = "";
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    for (const name of names) {
        const panel = el("section", { class: "hm-room", id: `hm-${name}`, role: "tabpanel", "aria-labelledby": `hm-tab-${name}`, hidden: true });
        const tab = el("button", { id: `hm-tab-${name}`, role: "tab", "aria-controls": panel.id, click: () => show(name) }, ROOMS[name].title);
        tabs.append(tab);
        root.append(panel);
        mounted.set(name, { room: ROOMS[name].mount(panel, context), panel, tab });
    }
    guard(() => given.size && mounted.get(first)?.room.restore(Object.fromEntries(given)));
    show(first);
    tabs.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step) show(names[(names.findIndex((name) => name === current) + step + names.length) % names.length], true);
    });
    (embedded ? root : document).addEventListener("keydown", (/** @type {any} */ event) => {
        const typing = event.target instanceof HTMLElement && event.target.matches("input, textarea, select, [contenteditable]");
        if (typing || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
        if (event.key === "?") showHelp();
        else if (mounted.get(current)?.room.key?.(event)) event.preventDefault();
    });
    return {
        set: (values) => guard(() => mounted.get(current)?.room.setValues?.(values)),
        close: () => mounted.get(current)?.room.hidden?.(),
    };

    /** @param {string} name */
    function show(name, focus = false) {
        for (const [other, { room, panel, tab }] of mounted) {
            const chosen = other === name;
            if (!chosen && other === current) room.hidden?.();
            panel.hidden = !chosen;
            tab.setAttribute("aria-selected", String(chosen));
            tab.tabIndex = chosen ? 0 : -1;
            if (chosen && focus) tab.focus();
        }
        current = name;
        guard(() => mounted.get(name)?.room.shown?.());
        keepState();
    }

    function keepState() {
        if (embedded && timer) return; // Python follows the mouse
        clearTimeout(timer);
        // Browsers refuse more than a few changes a second.
        timer = setTimeout(() => {
            timer = undefined;
            const room = mounted.get(current)?.room;
            if (report && room) report(room);
            // The base of a document in `srcdoc` is the page around it: its URL is none of ours.
            if (embedded || location.protocol === "about:") return;
            const state = { room: current, ...mounted.get(current)?.room.state() };
            location.replace(`#${new URLSearchParams(state)}`);
        }, embedded ? 50 : 300);
    }

    function showHelp() {
        /** @type {[string, string][]} */
        const keys = [...(mounted.get(current)?.room.keys ?? []), ["?", "show the keys"]];
        const rows = keys.map(([key, does]) => el("tr", {}, el("th", { scope: "row" }, el("kbd", {}, key)), el("td", {}, does)));
        const close = el("button", { click: () => help.close() }, "Close");
        help.replaceChildren(el("h2", {}, "Keys"), el("table", {}, el("tbody", {}, ...rows)), close);
        help.showModal();
    }

    /** @param {() => void} action */
    function guard(action) {
        try {
            action();
        } catch (error) {
            context.fail(messageOf(error));
        }
    }
}

/** @param {unknown} error */
export function messageOf(error) {
    return error instanceof Error ? error.message : String(error);
}

/**
 * Runs work in a worker made from the bundle itself, so that it runs from a disk, too; here, if there are no workers.
 * A new question for the same method makes the one before it moot: its worker is stopped, and nobody is answered.
 * @param {Function} source
 */
function askWorker(source) {
    /** @type {Map<string, Worker>} */
    const busy = new Map();
    const url = URL.createObjectURL(new Blob([`(${source})().startWorker();`], { type: "text/javascript" }));
    return (/** @type {string} */ method, /** @type {any[]} */ ...args) =>
        new Promise((resolve, reject) => {
            busy.get(method)?.terminate();
            // Some hosts of notebooks allow no workers.
            const here = () => Promise.resolve().then(() => WORK[method](...args)).then(resolve, reject);
            /** @type {Worker} */
            let worker;
            try {
                worker = new Worker(url);
            } catch {
                return void here();
            }
            busy.set(method, worker);
            worker.onmessage = ({ data }) => {
                worker.terminate();
                if (busy.get(method) === worker) busy.delete(method);
                if ("error" in data) reject(new Error(data.error));
                else resolve(data.result);
            };
            worker.onerror = here;
            worker.postMessage({ id: 0, method, args });
        });
}

/**
 * `window.hardmax`, for whoever wants to script the page. Everything is exact, or says that it is not.
 * @param {PageData} data
 */
function scripting(data) {
    return {
        version: data.version,
        limit: exactLimit,
        verify,
        certificate: makeCertificate,
        /** @param {(string | number)[][]} tokens @param {import("./exact.js").ExactOptions} options */
        step: (tokens, options) => exactLayers(tokens, options, 1).positions[1],
        classify: classifyHere,
        loadModel,
    };
}

/** The widget for anywidget: the traits of the model are the values of the room. @param {Function} source */
export function renderWidget(source) {
    return (/** @type {{model: any, el: HTMLElement}} */ { model, el: root }) => {
        root.classList.add("hm-page", "hm-widget");
        root.dataset.lmSuppressShortcuts = "true"; // JupyterLab's keys are not for what is in here
        /** @type {Record<string, string>} */
        const last = {};
        const data = { ...model.get("_data") };
        // What is shown a second time begins with what it is now.
        if (data.room === "reviews") data.text = model.get("text");
        else data.cloud = { tokens: model.get("tokens"), alpha: model.get("alpha"), metric: model.get("metric") };
        const shell = mountShell(root, data, source, (room) => {
            const changes = Object.entries(room.values?.() ?? {}).filter(([name, value]) => last[name] !== JSON.stringify(value));
            for (const [name, value] of changes) {
                last[name] = JSON.stringify(value);
                model.set(name, value);
            }
            if (changes.length) model.save_changes();
        });
        const listeners = ["tokens", "alpha", "metric", "layer", "text"].map((name) => {
            const follow = () => {
                const value = model.get(name);
                if (last[name] === JSON.stringify(value)) return;
                last[name] = JSON.stringify(value);
                shell.set({ [name]: value });
            };
            model.on(`change:${name}`, follow);
            return () => model.off(`change:${name}`, follow);
        });
        return () => {
            listeners.forEach((stop) => stop());
            shell.close();
        };
    };
}

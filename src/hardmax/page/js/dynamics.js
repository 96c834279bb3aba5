// The Dynamics room: tokens to drag, layers to play, the exact limit beside that of floats.
import { NAMED_CLOUDS, MOST_DIMENSIONS, MOST_TOKENS, cellFloat, cellValue, cloudFloats, parseCloud, randomCloud, readAlpha, readCell, readCloudFile, readRows, readRowsText, rowsText } from "./cloud.js";
import { acceptDrops, el } from "./dom.js";
import { compareRuns, floatRun, positionsAt, runOfLimit } from "./floats.js";
import { SWITCHES, buildPanel } from "./panel.js";
import { canvasPen, directionsOf, drawScene, ellipseAxes, fitFrame, markSize, toScreen, toWorld } from "./scene.js";

const URL_TOKENS = 6000; // characters; longer addresses do not survive mail and chat
const FIRST_CLOUD = "random:60,2,14";

/**
 * @param {HTMLElement} root
 * @param {import("./main.js").Context} context
 * @returns {import("./main.js").Room}
 */
export function mountDynamics(root, context) {
    const room = new DynamicsRoom(root, context);
    return {
        state: () => room.state(),
        restore: (state) => room.restore(state),
        key: (event) => room.key(event),
        shown: () => room.shown(),
        hidden: () => room.pause(),
        values: () => room.values(),
        setValues: (values) => room.setValues(values),
        keys: [
            ["Space", "play or pause"],
            ["← →", "move the selected token; if none is selected, go a layer back or on"],
            ["↑ ↓", "move the selected token (with Shift, in tenths)"],
            ["[ ]", "a layer back or on"],
            ["Home, End", "first layer, limit"],
            ["n, p", "select the next or previous token"],
            ["Esc", "select none"],
            ["a", "add a token"],
            ["Delete", "delete the selected token"],
            ["u", "undo"],
            ["Shift + arrows", "rotate, in three dimensions, if no token is selected"],
        ],
    };
}

/** The room. What is drawn follows from its fields; `changed*` methods say which of them are new. */
export class DynamicsRoom {
    /** @param {HTMLElement} root @param {import("./main.js").Context} context */
    constructor(root, context) {
        this.context = context;
        /** Coordinates as texts. @type {string[][]} */
        this.tokens = [];
        this.d = 2;
        this.alpha = "1/2";
        /** @type {string[][] | null} */
        this.metric = null;
        /** How the tokens came about: the key of a named cloud, "random:n,d,seed", or "own". */
        this.source = "own";
        /** What floats take for a tie. */
        this.slack = 0;
        /** @type {{tokens: string[][], d: number, alpha: string, metric: string[][] | null, source: string}[]} */
        this.past = [];
        this.layer = 0;
        this.playing = false;
        this.selected = -1;
        this.show = new Set(SWITCHES.flatMap(([name, , on]) => (on ? [name] : [])));
        this.yaw = 0.5;
        this.pitch = 0.35;
        /** @type {Map<number, number>} looks of leaders by token, so that colours stay while one drags */
        this.looks = new Map();
        this.floats = new Float64Array();
        /** @type {import("./floats.js").Run} */
        this.float = floatRun(this.floats, 0, 2, { alpha: 1, metric: null });
        /** @type {{limit: import("./exact.js").ExactLimit, run: import("./floats.js").Run} | null} */
        this.exact = null;
        /** @type {ReturnType<typeof compareRuns>} */
        this.differences = [];
        this.version = 0;
        this.started = false;
        this.drawing = false;
        this.stale = false;

        this.canvas = el("canvas", { class: "hm-canvas", tabindex: 0, role: "img" });
        this.panel = buildPanel(root, this);
        const pen = this.canvas.getContext("2d");
        if (!pen) throw new Error("this browser has no canvas: the picture cannot be drawn.");
        this.brush = pen;
        this.frame = fitFrame(this.floats, 2, 100, 100, this);
        new ResizeObserver(() => this.resize()).observe(this.canvas);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
        // Paper is white, whatever the screen is.
        window.addEventListener("beforeprint", () => this.paint({ ink: "#1b1b1b", ground: "#ffffff" }));
        window.addEventListener("afterprint", () => this.paint());
        this.listen();
        acceptDrops(root, (files) => files[0] && this.openFile(files[0]));
        (context.embedded ? root : document).addEventListener("paste", (/** @type {any} */ event) => {
            const typing = event.target instanceof HTMLElement && event.target.matches("input, textarea");
            if (!typing && root.offsetParent) this.paste(event.clipboardData?.getData("text") ?? "");
        });
        const given = context.data.cloud;
        if (given) this.guard(() => this.useCloud(readRows(given.tokens, given.name ?? "the cloud"), "own", given.alpha, given.metric && readRows(given.metric, "the metric")));
        if (!this.tokens.length) this.choose(FIRST_CLOUD);
        this.past = [];
    }

    /** The run that is drawn: the exact one once it is known. */
    get run() {
        return this.exact?.run ?? this.float;
    }

    get n() {
        return this.tokens.length;
    }

    /** Layers after which the tokens are, to the eye, at their limits. */
    get lastLayer() {
        const { layers, limits, keep } = this.run;
        return layers.length - 1 + (limits ? Math.min(100, Math.ceil(Math.log(0.004) / Math.log(keep))) : 0);
    }

    /** The room can be seen: the first time, something moves. */
    shown() {
        this.resize();
        if (this.started) return;
        this.started = true;
        this.changedCloud(true);
        if (!this.context.calm && this.layer === 0) this.play();
        else if (this.context.calm && this.layer === 0) this.goTo(Infinity);
    }

    // -- the cloud ---------------------------------------------------------------------------------------------------

    /** Begin with a cloud by its source. @param {string} source */
    choose(source) {
        const [n, d, seed] = source.startsWith("random:") ? source.slice(7).split(",").map(Number) : [0, 0, 0];
        if (n) this.useCloud(randomCloud(n, d, seed), source);
        else this.useCloud(NAMED_CLOUDS[source].tokens(), source);
    }

    /**
     * @param {string[][]} tokens @param {string} source @param {string} [alpha] @param {string[][] | null} [metric]
     */
    useCloud(tokens, source, alpha = this.alpha, metric = tokens[0].length === this.d ? this.metric : null) {
        if (metric && (metric.length !== tokens[0].length || metric[0].length !== metric.length)) throw new Error(`the metric must be ${tokens[0].length} by ${tokens[0].length}.`);
        const step = readAlpha(alpha);
        this.edit(() => Object.assign(this, { tokens, d: tokens[0].length, source, alpha: step, metric, selected: -1, layer: 0 }), true);
        this.looks.clear();
    }

    /** Change the cloud, the step or the metric so that it can be undone. @param {() => void} change @param {boolean} [fit] */
    edit(change, fit = false) {
        this.remember();
        change();
        this.context.fail("");
        this.changedCloud(fit);
    }

    remember() {
        const { d, alpha, metric, source } = this;
        this.past.push({ tokens: this.tokens.map((row) => [...row]), d, alpha, metric, source });
        if (this.past.length > 100) this.past.shift();
    }

    undo() {
        const before = this.past.pop();
        if (!before) return this.context.announce("nothing to undo");
        Object.assign(this, before);
        this.selected = Math.min(this.selected, this.n - 1);
        this.changedCloud(true);
    }

    /** Tokens, step or metric are new: floats at once, fractions after a moment. @param {boolean} [fit] */
    changedCloud(fit = false) {
        this.recompute();
        if (!this.started) return;
        if (fit) this.fit();
        this.panel.update();
        this.draw();
        this.askExact(150);
        this.context.changed();
    }

    recompute() {
        this.version++;
        this.stale = false;
        this.exact = null;
        this.differences = [];
        this.floats = cloudFloats(this.tokens);
        const metric = this.metric && cloudFloats(this.metric);
        this.float = floatRun(this.floats, this.n, this.d, { alpha: cellFloat(this.alpha), metric, slack: this.slack });
        this.keepLooks();
    }

    /** Leaders keep their colours and shapes; new ones get the first that are free. */
    keepLooks() {
        const { since, first } = this.run;
        const leading = new Set(Array.from(first).filter((_, point) => since[point] >= 0));
        for (const token of this.looks.keys()) if (!leading.has(token)) this.looks.delete(token);
        const used = new Set(this.looks.values());
        let free = 0;
        for (const token of leading) {
            if (this.looks.has(token)) continue;
            while (used.has(free)) free++;
            this.looks.set(token, free);
            used.add(free);
        }
    }

    /** @param {number} wait milliseconds */
    askExact(wait) {
        clearTimeout(this.timer);
        const version = this.version;
        if (!this.n) return;
        this.timer = setTimeout(async () => {
            try {
                const options = { alpha: this.alpha, metric: this.metric, budget: 4000 };
                const limit = /** @type {import("./exact.js").ExactLimit} */ (await this.context.compute("limit", this.tokens, options));
                if (version !== this.version) return;
                const run = limit.attended.length ? runOfLimit(this.floats, this.d, cellFloat(this.alpha), limit) : null;
                this.exact = run && (limit.limits || !this.float.limits) ? { limit, run } : null;
                this.differences = run && limit.limits ? compareRuns(run, this.float) : [];
                this.panel.verdict(limit.reason);
            } catch (error) {
                if (version === this.version) this.panel.verdict(error instanceof Error ? error.message : String(error));
            }
            this.keepLooks();
            this.panel.update();
            this.draw();
        }, wait);
    }

    /** @param {File} file */
    async openFile(file) {
        await this.guard(async () => this.use(await readCloudFile(file)));
    }

    /** @param {string} text */
    paste(text) {
        if (text.trim()) this.guard(() => this.use(parseCloud(text, "what was pasted")));
    }

    /** @param {{tokens: string[][], note: string}} read */
    use({ tokens, note }) {
        this.useCloud(tokens, "own");
        if (note) this.context.fail(note);
        this.context.announce(`${tokens.length.toLocaleString("en")} tokens in ${tokens[0].length} dimensions`);
        if (!this.context.calm) this.play();
        else this.goTo(Infinity);
    }

    /** Show what went wrong in one line. @param {() => unknown} action */
    async guard(action) {
        try {
            await action();
        } catch (error) {
            this.context.fail(error instanceof Error ? error.message : String(error));
        }
    }

    /** @param {number[]} place */
    add(place) {
        if (this.n >= MOST_TOKENS) return this.context.fail(`This page takes ${MOST_TOKENS} tokens: delete some first.`);
        this.edit(() => {
            this.tokens = [...this.tokens, place.map((x) => this.kept(this.rounded(x)))];
            this.source = "own";
            this.selected = this.n - 1;
        });
        this.context.announce(`token ${this.selected} added: ${this.summary()}`);
    }

    /** Add a token where the pointer is, or else somewhere free in the picture. */
    addSomewhere() {
        const angle = 2.4 * this.n;
        const radius = 0.25 * Math.min(this.frame.width, this.frame.height);
        const [x, y] = this.pointer ?? [this.frame.width / 2 + radius * Math.cos(angle), this.frame.height / 2 + radius * Math.sin(angle)];
        this.add(toWorld(this.frame, x, y));
    }

    remove() {
        if (this.selected < 0) return this.context.announce("select a token to delete it");
        const gone = this.selected;
        this.edit(() => {
            this.tokens = this.tokens.filter((_, token) => token !== gone);
            this.source = "own";
            this.selected = -1;
            this.looks.clear();
        });
        this.context.announce(`token ${gone} deleted: ${this.summary()}`);
    }

    /** Move the start of a token. @param {number} token @param {number[]} place @param {boolean} [coarse] in tenths */
    move(token, place, coarse = false) {
        const row = place.map((x) => (coarse ? String(Math.round(10 * x) / 10 + 0) : this.rounded(x)));
        this.tokens = this.tokens.map((other, k) => (k === token ? row.map((cell) => this.kept(cell)) : other));
        this.source = "own";
    }

    /** In a notebook what the mouse writes are floats, so that Python has numbers and not texts. @param {string} cell */
    kept(cell) {
        return this.context.embedded ? readCell(Number(cell), "a coordinate") : cell;
    }

    /** A coordinate with as many decimals as a pixel can show. @param {number} x */
    rounded(x) {
        const decimals = Math.max(0, Math.min(12, Math.ceil(Math.log10(this.frame.scale))));
        return String(Number(x.toFixed(decimals)) + 0);
    }

    // -- layers ------------------------------------------------------------------------------------------------------

    /** @param {number} layer Infinity is the limit */
    goTo(layer, say = true) {
        this.pause();
        this.setLayer(layer === Infinity && !this.run.limits ? this.lastLayer : Math.max(0, layer));
        if (say) this.context.announce(this.summary());
        this.context.changed();
    }

    /** @param {number} by */
    stepBy(by) {
        const from = this.layer === Infinity ? this.lastLayer + 1 : Math.round(this.layer);
        this.goTo(from + by > this.lastLayer ? Infinity : from + by);
    }

    /** @param {number} layer */
    setLayer(layer) {
        this.layer = layer;
        this.panel.updateLayer();
        this.draw();
    }

    summary() {
        const { since, limits } = this.run;
        const leaders = Array.from(since).filter((from) => from >= 0 && from <= this.layer).length;
        const where = this.layer === Infinity && limits ? "limit" : `layer ${Math.floor(Math.min(this.layer, this.lastLayer))} of ${this.lastLayer}`;
        return `${where}: ${leaders} ${leaders === 1 ? "leader" : "leaders"}, ${this.n} ${this.n === 1 ? "token" : "tokens"}`;
    }

    play() {
        if (this.layer >= this.lastLayer) this.layer = 0;
        this.playing = true;
        this.panel.updateLayer();
        let before = performance.now();
        const round = ++this.plays;
        const frame = (/** @type {number} */ now) => {
            if (!this.playing || round !== this.plays) return;
            // The whole way takes about five seconds, whatever the step size.
            const layer = this.layer + (Math.max(0, Math.min(now - before, 100)) / 1000) * Math.max(1.2, this.lastLayer / 5);
            before = now;
            if (layer >= this.lastLayer) return this.goTo(Infinity);
            this.setLayer(layer);
            requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
    }

    /** Counts the times that something was played, so that only the last goes on. */
    plays = 0;

    pause() {
        const was = this.playing;
        this.playing = false;
        if (was) this.setLayer(this.layer < this.lastLayer ? Math.round(this.layer) : this.layer);
    }

    // -- drawing -----------------------------------------------------------------------------------------------------

    fit() {
        this.frame = fitFrame(this.floats, this.d, this.frame.width, this.frame.height, this);
        this.draw();
    }

    resize() {
        const { clientWidth: width, clientHeight: height } = this.canvas;
        if (!width || !height) return;
        const dense = window.devicePixelRatio || 1;
        this.canvas.width = Math.round(width * dense);
        this.canvas.height = Math.round(height * dense);
        this.frame = fitFrame(this.floats, this.d, width, height, this);
        this.paint();
    }

    /** Draw before the next frame is shown. */
    draw() {
        if (this.drawing) return;
        this.drawing = true;
        requestAnimationFrame(() => {
            this.drawing = false;
            if (this.stale) {
                this.recompute();
                this.panel.updateLayer();
            }
            this.paint();
        });
    }

    /** @returns {import("./scene.js").Scene} */
    scene(theme = this.theme()) {
        const { frame, run, layer, selected, show, metric } = this;
        const looks = new Map([...this.looks].map(([token, look]) => [run.ofToken[token], look]));
        const differing = this.differences.map(({ token }) => token);
        const other = differing.length ? this.float : null;
        return { frame, theme, run, layer, other, differing, looks, metric: metric && cloudFloats(metric), selected, show };
    }

    theme() {
        const { color, backgroundColor } = getComputedStyle(this.canvas);
        return { ink: color, ground: backgroundColor };
    }

    paint(theme = this.theme()) {
        const { canvas, brush, frame } = this;
        if (!frame.width) return;
        brush.setTransform(canvas.width / frame.width, 0, 0, canvas.height / frame.height, 0, 0);
        brush.globalAlpha = 1;
        brush.fillStyle = theme.ground;
        brush.fillRect(0, 0, frame.width, frame.height);
        drawScene(canvasPen(brush), this.scene(theme));
    }

    // -- pointer and keys --------------------------------------------------------------------------------------------

    listen() {
        const { canvas } = this;
        /** @type {{kind: "token" | "view" | "ellipse", x: number, y: number, start: number[], handle: number, moved: boolean} | null} */
        let drag = null;
        const at = (/** @type {PointerEvent | MouseEvent | Touch} */ event) => {
            const box = canvas.getBoundingClientRect();
            return [event.clientX - box.left, event.clientY - box.top];
        };
        canvas.addEventListener("pointerdown", (event) => {
            const [x, y] = at(event);
            const handle = this.handleAt(x, y);
            const token = handle < 0 ? this.tokenAt(x, y, event.pointerType === "touch" ? 24 : 13) : -1;
            if (event.button) return;
            const kind = handle >= 0 ? "ellipse" : token >= 0 ? "token" : "view";
            drag = { kind, x, y, start: Array.from(this.floats.subarray(token * this.d, token * this.d + this.d)), handle, moved: false };
            if (token >= 0) this.playing = false;
            if (token !== this.selected && (kind === "token" || this.d !== 3)) this.select(token, false);
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener("pointermove", (event) => {
            const [x, y] = at(event);
            this.pointer = [x, y];
            if (!drag) {
                canvas.style.cursor = this.handleAt(x, y) >= 0 || this.tokenAt(x, y, 13) >= 0 ? "grab" : this.d === 3 ? "move" : "default";
                return;
            }
            if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 3) return;
            if (!drag.moved && drag.kind !== "view") this.remember();
            drag.moved = true;
            const { right, up, scale } = this.frame;
            if (drag.kind === "token") {
                const [a, b] = [(x - drag.x) / scale, (drag.y - y) / scale];
                this.move(this.selected, drag.start.map((value, c) => value + a * right[c] + b * up[c]), event.shiftKey);
                this.stale = true;
            } else if (drag.kind === "ellipse") {
                this.pullEllipse(drag.handle, toWorld(this.frame, x, y));
                this.stale = true;
            } else if (this.d === 3) {
                this.rotate((x - drag.x) / 120, (y - drag.y) / 120);
                [drag.x, drag.y] = [x, y];
            }
            this.draw();
            if (this.context.embedded) this.context.changed(); // Python follows the mouse
        });
        const end = () => {
            const changed = drag?.moved && drag.kind !== "view";
            drag = null;
            if (changed) this.changedCloud();
            if (changed) this.context.announce(this.summary());
        };
        canvas.addEventListener("pointerup", end);
        canvas.addEventListener("pointercancel", end);
        canvas.addEventListener("pointerleave", () => (this.pointer = null));
        canvas.addEventListener("dblclick", (event) => {
            const [x, y] = at(event);
            if (this.tokenAt(x, y, 13) < 0) this.add(toWorld(this.frame, x, y));
        });
        // A finger on a token drags it; elsewhere it scrolls the page, unless there is something to rotate.
        canvas.addEventListener("touchstart", (event) => {
            const [x, y] = at(event.touches[0]);
            if (this.d === 3 || this.handleAt(x, y) >= 0 || this.tokenAt(x, y, 24) >= 0) event.preventDefault();
        }, { passive: false });
    }

    /** Where the pointer is over the picture. @type {number[] | null} */
    pointer = null;

    /** The token near a place, at its start or where it is now; -1 if none is. @param {number} x @param {number} y @param {number} reach */
    tokenAt(x, y, reach) {
        let [found, nearest] = [-1, Math.max(reach, markSize(this.n) + 3)];
        for (const rows of this.n ? [positionsAt(this.run, this.layer), this.run.layers[0].positions] : []) {
            for (let token = 0; token < this.n; token++) {
                const [a, b] = toScreen(this.frame, rows, this.run.ofToken[token]);
                const distance = Math.hypot(a - x, b - y);
                // Of tokens in one place the one that starts there.
                if (distance < nearest || (distance === nearest && rows === this.run.layers[0].positions)) [found, nearest] = [token, distance];
            }
        }
        return found;
    }

    /** The handle of the ellipse near a place. @param {number} x @param {number} y */
    handleAt(x, y) {
        const axes = this.d === 2 && this.show.has("ellipse") ? ellipseAxes(this.frame, this.metric && cloudFloats(this.metric)) : null;
        return axes?.findIndex((axis) => {
            const [a, b] = toScreen(this.frame, [axis.x * axis.length, axis.y * axis.length]);
            return Math.hypot(a - x, b - y) < 14;
        }) ?? -1;
    }

    /** @param {number} handle @param {number[]} place */
    pullEllipse(handle, [x, y]) {
        const axes = ellipseAxes(this.frame, this.metric && cloudFloats(this.metric));
        if (!axes) return;
        const { length: other, radius } = axes[1 - handle];
        const own = Math.max(radius / 5, Math.min(5 * radius, Math.hypot(x, y)));
        const [c, s] = [x / Math.hypot(x, y), y / Math.hypot(x, y)];
        const [a, b] = [(radius / own) ** 2, (radius / other) ** 2];
        const round = (/** @type {number} */ value) => String(Number(value.toFixed(2)) + 0);
        const mixed = round((a - b) * c * s);
        const metric = [[round(a * c * c + b * s * s), mixed], [mixed, round(a * s * s + b * c * c)]];
        if (ellipseAxes(this.frame, cloudFloats(metric))) this.metric = metric;
    }

    /** @param {number} yaw @param {number} pitch */
    rotate(yaw, pitch) {
        this.yaw -= yaw;
        this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + pitch));
        Object.assign(this.frame, directionsOf(this.floats, this.d, this.yaw, this.pitch));
        this.draw();
        this.context.changed();
    }

    /** @param {number} token or -1 */
    select(token, say = true) {
        this.selected = token;
        this.panel.updateLayer();
        if (say && token >= 0) this.context.announce(this.panel.describe(token));
        this.draw();
        this.context.changed();
    }

    /** @param {KeyboardEvent} event @returns {boolean} */
    key({ key, shiftKey, target }) {
        const on = target instanceof HTMLElement ? target : null;
        if (on?.matches("[role=tab]") || (on?.matches("button, summary, a") && (key === " " || key === "Enter"))) return false;
        const arrow = /** @type {Record<string, number[]>} */ ({ ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] })[key];
        if (arrow && this.selected >= 0) {
            const { right, up, scale } = this.frame;
            // About two pixels, a power of ten.
            const unit = shiftKey ? 0.1 : 10 ** Math.round(Math.log10(2 / scale));
            const start = Array.from(this.floats.subarray(this.selected * this.d, (this.selected + 1) * this.d));
            this.edit(() => this.move(this.selected, start.map((value, c) => value + unit * (arrow[0] * right[c] + arrow[1] * up[c])), shiftKey));
            this.context.announce(`token ${this.selected} at ${this.tokens[this.selected].join(", ")}: ${this.summary()}`);
        } else if (arrow && shiftKey && this.d === 3) this.rotate(arrow[0] / 10, arrow[1] / 10);
        else if (arrow && arrow[0]) this.stepBy(arrow[0]);
        else if (key === "[" || key === "]") this.stepBy(key === "[" ? -1 : 1);
        else if (key === " ") this.playing ? this.goTo(Math.round(this.layer)) : this.play();
        else if (key === "Home") this.goTo(0);
        else if (key === "End") this.goTo(Infinity);
        else if ((key === "n" || key === "p") && this.n) this.select((this.selected + (key === "n" ? 1 : this.selected < 0 ? 0 : -1) + this.n) % this.n);
        else if (key === "Escape") this.select(-1);
        else if (key === "a") this.addSomewhere();
        else if (key === "Delete" || key === "Backspace") this.remove();
        else if (key === "u") this.undo();
        else return false;
        return true;
    }

    // -- a notebook --------------------------------------------------------------------------------------------------

    /** @returns {import("./main.js").Values} */
    values() {
        const { alpha, metric, layer } = this;
        const tokens = this.tokens.map((row) => row.map(cellValue));
        return { tokens, alpha, metric, layer: layer === Infinity ? "limit" : Math.round(layer) };
    }

    /** @param {import("./main.js").Values} values */
    setValues({ tokens, alpha = this.alpha, metric = this.metric, layer }) {
        if (layer !== undefined) return this.goTo(layer === "limit" ? Infinity : Number(layer));
        const rows = tokens ? readRows(tokens, "tokens") : this.tokens;
        const matrix = metric && readRows(metric, "metric");
        if (rows.length !== this.n || rows[0].length !== this.d) return this.useCloud(rows, "own", alpha, rows[0].length === this.d ? matrix : null);
        const step = readAlpha(alpha);
        this.edit(() => Object.assign(this, { tokens: rows, alpha: step, metric: matrix, source: tokens ? "own" : this.source }));
    }

    // -- the URL -----------------------------------------------------------------------------------------------------

    /** @returns {Record<string, string>} */
    state() {
        /** @type {Record<string, string>} */
        const state = {};
        const tokens = this.source === "own" ? rowsText(this.tokens) : "";
        if (this.source.startsWith("random:")) state.random = this.source.slice(7);
        else if (this.source !== "own") state.cloud = this.source;
        else if (tokens.length <= URL_TOKENS) state.tokens = tokens;
        state.alpha = this.alpha;
        if (this.metric) state.metric = rowsText(this.metric);
        state.layer = this.layer === Infinity ? "limit" : String(Math.round(this.playing ? 0 : this.layer));
        state.show = [...this.show].join(",");
        if (this.selected >= 0) state.selected = String(this.selected);
        if (this.d === 3) state.view = `${this.yaw.toFixed(2)},${this.pitch.toFixed(2)}`;
        if (this.slack) state.ties = "slack";
        return state;
    }

    /** From a URL that anybody may have written. @param {Record<string, string>} state */
    restore(state) {
        const bad = (/** @type {string} */ what, /** @type {string} */ wish) => new Error(`The address of this page is damaged: ${what} must be ${wish}.`);
        const whole = (/** @type {string} */ text, /** @type {number} */ most) => (/^\d{1,10}$/.test(text) && Number(text) <= most ? Number(text) : -1);
        let [tokens, source] = [this.tokens, this.source];
        if (state.tokens !== undefined) {
            if (state.tokens.length > 10 * URL_TOKENS) throw bad("tokens", "shorter");
            [tokens, source] = [state.tokens ? readRowsText(state.tokens, "The tokens in the address") : [], "own"];
        } else if (state.random !== undefined) {
            const [n, d, seed] = state.random.slice(0, 40).split(",");
            if (whole(n, MOST_TOKENS) < 1 || whole(d, MOST_DIMENSIONS) < 1 || whole(seed, 2 ** 32 - 1) < 0) throw bad("random", "n,d,seed");
            [tokens, source] = [randomCloud(Number(n), Number(d), Number(seed)), `random:${Number(n)},${Number(d)},${Number(seed)}`];
        } else if (state.cloud !== undefined) {
            if (!Object.hasOwn(NAMED_CLOUDS, state.cloud)) throw bad("cloud", `one of ${Object.keys(NAMED_CLOUDS).join(", ")}`);
            [tokens, source] = [NAMED_CLOUDS[state.cloud].tokens(), state.cloud];
        }
        const d = tokens[0]?.length ?? 2;
        const alpha = state.alpha === undefined ? this.alpha : readAlpha(state.alpha);
        const metric = state.metric ? readRowsText(state.metric.slice(0, URL_TOKENS), "The metric in the address") : tokens === this.tokens ? this.metric : null;
        if (metric && (metric.length !== d || metric[0].length !== d)) throw bad("metric", `${d} by ${d}`);
        const layer = state.layer === "limit" ? Infinity : state.layer === undefined ? 0 : whole(state.layer, 1000);
        if (layer < 0) throw bad("layer", "a number or “limit”");
        const selected = state.selected === undefined ? -1 : whole(state.selected, tokens.length - 1);
        const [yaw, pitch] = (state.view ?? "").slice(0, 40).split(",").map(Number);
        if (yaw && Math.abs(yaw) < 1e3 && Math.abs(pitch) <= 1.5) Object.assign(this, { yaw, pitch });
        if (state.show !== undefined) this.show = new Set(SWITCHES.flatMap(([name]) => (state.show.split(",").includes(name) ? [name] : [])));
        Object.assign(this, { tokens, source, d, alpha, metric, selected, slack: state.ties === "slack" ? 1e-12 : 0, past: [] });
        this.looks.clear();
        this.recompute();
        this.layer = layer === Infinity ? Infinity : Math.min(layer, this.lastLayer);
        this.panel.update();
    }
}

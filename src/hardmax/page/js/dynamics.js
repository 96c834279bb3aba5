// The Dynamics room: tokens to drag, layers to play, the exact limit beside that of floats.
import { LONGEST_NAME, MOST_TOKENS, cellFloat, cellValue, cloudFloats, cloudOf } from "./cloud.js";
import { readAlpha, readCell, readRows, readRowsText, readSquare, rowsText } from "./cloud.js";
import { acceptDrops, el, plural } from "./dom.js";
import { compareRuns, floatRun, positionsAt, runOfLimit, untold } from "./floats.js";
import { FLOAT_ENOUGH, MOST_LAYERS, checkLayer, floatLayers, otherParts, runOfLayers } from "./layers.js";
import { SWITCHES, buildPanel } from "./panel.js";
import { PAPER, directionsOf, ellipseEnd, fitFrame, metricOfEllipse, paintScene, toScreen, toWorld } from "./scene.js";

/** What is computed. `source` is the key of a named cloud, "random:n,d,seed", or "own"; a token without a name is called
 * by its number.
 * @typedef {{tokens: string[][], names: string[], alpha: string, metric: string[][] | null, source: string}
 *     & import("./layers.js").Parts} Problem
 * @typedef {import("./main.js").Context} Context
 * @typedef {import("./main.js").Values} Values */

const PAPER_LAYER = { mask: null, value: null, attention: null };
const FIRST_CLOUD = "random:60,2,71"; // seven leaders, one of which emerges at layer 1
const PAPER_SIZE = [680, 680]; // in pixels, of a picture in print
const URL_LENGTH = 6000; // characters of tokens; longer addresses do not survive mail and chat
/** @type {Record<string, number[]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export class DynamicsRoom {
    /** @type {[string, string][]} */
    keys = [
        ["Space", "play or pause"], ["Home, End", "first layer, limit"],
        ["← →", "previous or next layer, if no token is selected"], ["[ ]", "previous or next layer, always"],
        ["← → ↑ ↓", "move the selected token (with Shift: to tenths)"],
        ["n, p", "select the next or previous token"], ["Esc", "select none; leave the tour"], ["t", "take the tour"],
        ["a", "add a token"], ["Delete", "delete the selected token"],
        ["Shift + arrows", "rotate, in three dimensions, if no token is selected"],
    ];
    problem = /** @type {Problem} */ ({ tokens: [], names: [], alpha: "1/2", metric: null, source: "own", ...PAPER_LAYER });
    n = 0; // tokens
    d = 2; // dimensions
    floats = new Float64Array();
    metric = /** @type {Float64Array | null} */ (null);
    floatRun = floatRun(this.floats, 2, { alpha: 1, metric: null });
    /** Not while one drags; the limit only of the paper's layer.
     * @type {{limit: import("./exact.js").ExactLimit | null, run: import("./floats.js").Run} | null} */
    exact = null;
    others = /** @type {string[]} */ ([]); // what makes the layer another than the paper's
    soft = /** @type {import("./layers.js").FloatLayers | null} */ (null); // softmax, beside the others
    differences = /** @type {ReturnType<typeof compareRuns>} */ ([]);
    layer = 0; // a fraction while it plays; Infinity is the limit
    playing = 0; // the request of the next frame
    caught = false; // it played until a token was touched
    selected = -1;
    led = /** @type {number[]} */ ([]); // tokens that have led since the cloud was chosen: colours go by this order
    speed = 1;
    beside = /** @type {import("./floats.js").Run | null} */ (null); // in the picture of softmax: what it is beside
    /** What the tour or an exercise speaks of: `spot` is a place, or empty. */
    marked = { ray: false, rings: /** @type {number[]} */ ([]), spot: /** @type {number[]} */ ([]) };
    asking = false; // a question of an exercise, which nothing may give away
    locked = false; // nor may its settings be changed
    asked = /** @type {[string, boolean] | null} */ (null); // the exercise to begin with, and whether it is locked
    reason = ""; // why there is no exact limit
    show = new Set(SWITCHES.flatMap(([name, , on]) => (on ? [name] : [])));
    yaw = 0.5;
    pitch = 0.35;
    drag = /** @type {{kind: string, at: number[], start: number[], moved: boolean} | null} */ (null);
    beforeReset = /** @type {ReturnType<DynamicsRoom["remember"]> | null} */ (null);
    started = false;
    restored = false;
    tourAt = -1; // the step of the tour to begin with
    drawing = 0;
    timer = 0;
    hidden = () => this.pause();
    showLayer = () => (this.panel.updateLayer(), this.draw());
    toggle = () => (this.playing ? this.goTo(this.layer) : this.play());
    step = (/** @type {number} */ by) => this.goTo(Math.min(Math.round(this.layer), this.lastLayer + 1) + by);
    nameOf = (/** @type {number} */ token) => this.problem.names[token] || String(token);
    /** In a sentence. @param {number} token */
    called = (token) => this.problem.names[token] || `token ${token}`;
    /** Where a token starts. @param {number} token */
    startOf = (token) => Array.from(this.floats.subarray(token * this.d, token * this.d + this.d));

    constructor(/** @type {HTMLElement} */ root, /** @type {Context} */ context) {
        this.context = context;
        this.canvas = el("canvas", { class: "hm-canvas", tabindex: 0, role: "img" });
        this.softCanvas = el("canvas", { class: "hm-canvas", role: "img" });
        this.frame = fitFrame(this.floats, 2, 100, 100, this);
        this.panel = buildPanel(root, this);
        this.listen();
        const isProof = (/** @type {File} */ { name }) => name.endsWith(".json");
        acceptDrops(root, (files, folder) => {
            const isModel = files.some(({ name }) => name === "config.json");
            if (folder || isModel) return context.openModel(files, folder);
            return files.some(isProof) ? this.panel.check(files) : this.panel.open(files[0]);
        });
        const resized = new ResizeObserver(() => this.resize());
        for (const canvas of [this.canvas, this.softCanvas]) resized.observe(canvas);
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
        // Paper is white, whatever the screen is.
        window.addEventListener("beforeprint", () => this.resize(PAPER));
        window.addEventListener("afterprint", () => this.resize());
        this.use(FIRST_CLOUD);
        const { cloud } = context.data;
        if (cloud) context.attempt(() => this.setValues(cloud));
        this.first = this.remember();
    }

    /** What is drawn: the truth once it is known. */
    get run() {
        const run = this.exact?.run ?? this.floatRun;
        return this.asking ? untold(run) : run;
    }

    /** The layer without softmax, which is shown beside it. */
    get hardLayer() {
        const { alpha, metric, mask, value, attention } = this.problem;
        return { alpha, metric, mask, value, attention: attention?.startsWith("softmax:") ? null : attention };
    }

    /** The last layer of softmax for which floats suffice, up to the one that is shown. */
    get softLayer() {
        const { errors, layers } = this.soft ?? { errors: [], layers: [] };
        const enough = errors.findIndex((error) => !(error <= FLOAT_ENOUGH));
        return Math.min(this.layer, (enough < 0 ? layers.length : Math.max(1, enough)) - 1);
    }

    /** The layer that is named and linked to: while it plays, tokens are on their way from it to the next. */
    get wholeLayer() {
        return Math.floor(this.layer);
    }

    /** A layer, or the last one that is known. @param {number} layer */
    clamped(layer) {
        return this.run.limits || layer <= this.lastLayer ? layer : this.lastLayer;
    }

    /** The layer at which the tokens are, to the eye, at their limits. */
    get lastLayer() {
        const { layers, limits, keep } = this.run;
        return layers.length - 1 + (limits ? Math.min(100, Math.ceil(Math.log(0.004) / Math.log(keep))) : 0);
    }

    /** The room can be seen. The first time, something moves. */
    shown() {
        this.resize();
        if (this.started) return;
        this.started = true;
        this.changed();
        if (this.asked) this.panel.quiz.start(...this.asked);
        else if (this.tourAt >= 0) this.panel.tour.show(this.tourAt);
        else if (!this.restored) this.begin();
    }

    remember() {
        const { problem, layer, selected, led, show, yaw, pitch } = this;
        return { problem, layer, selected, led: [...led], show: new Set(show), yaw, pitch };
    }

    /** Show again what was remembered. @param {ReturnType<DynamicsRoom["remember"]>} what */
    recall({ layer, show, ...what }) {
        this.pause();
        Object.assign(this, what, { show: new Set(show) });
        this.changed();
        this.resize();
        this.goTo(layer);
    }

    /** As when the page was opened; or, if nothing has changed since, as before that. */
    reset() {
        const before = this.beforeReset;
        this.beforeReset = before ? null : this.remember();
        this.panel.tour.leave(false);
        this.recall(before ?? this.first);
        if (!before) this.begin();
    }

    /** A step of the tour. @param {Omit<import("./tour.js").TourStep, "lit">} step */
    present({ cloud, layer, show, selected = -1, ray = false, rings = [] }) {
        this.marked = { ray, rings, spot: [] };
        const problem = { ...this.problem, tokens: cloudOf(cloud), names: [], source: cloud, alpha: "1/2" };
        Object.assign(problem, PAPER_LAYER, { metric: null });
        const first = this.context.calm ? layer : 0;
        this.recall({ ...this.remember(), problem, selected, led: [], layer: first, show: new Set(show) });
        if (layer && !this.context.calm) this.play(layer);
    }

    /** A new cloud. @param {string} source @param {string[][]} [tokens] @param {string[]} [names] */
    use(source, tokens = cloudOf(source), names = []) {
        this.panel.tour.leave(false);
        [this.selected, this.led] = [-1, []];
        const matrices = tokens[0].length === this.d ? {} : { metric: null, value: null };
        if (names.length) this.show.add("numbers");
        this.set({ tokens, names, source, ...matrices });
        this.resize();
    }

    /** Change the problem. @param {Partial<Problem>} change */
    set(change) {
        if (this.locked) throw new Error("The settings of this exercise are locked.");
        if (change.tokens) this.panel.quiz.leave();
        if (this.drag) this.drag.moved = true;
        this.beforeReset = null;
        const problem = { ...this.problem, ...change };
        checkLayer(problem, problem.tokens[0]?.length ?? this.d);
        this.problem = problem;
        if (this.started) this.context.fail("");
        this.changed();
    }

    /** The problem is new: floats at once, fractions after a moment. */
    changed() {
        const { tokens, alpha, metric, attention } = this.problem;
        const known = this.exact;
        [this.n, this.d] = [tokens.length, tokens[0]?.length ?? this.d];
        [this.floats, this.metric] = [cloudFloats(tokens), metric && cloudFloats(metric)];
        [this.exact, this.differences, this.reason] = [null, [], ""];
        this.others = otherParts(this.problem);
        const layer = { ...this.hardLayer, metric: this.metric };
        // While one drags, fewer layers of other kinds are computed, and no bounds.
        const how = { budget: this.drag ? 40 : 500, bounded: !this.drag };
        this.floatRun = this.others.length ? floatLayers(this.floats, this.d, layer, { ...how, bounded: false })
            : floatRun(this.floats, this.d, { alpha: cellFloat(alpha), metric: this.metric });
        const most = Math.min(MOST_LAYERS, this.lastLayer);
        this.soft = attention?.startsWith("softmax:") && this.n
            ? floatLayers(this.floats, this.d, { ...layer, attention }, { ...how, layers: most }) : null;
        this.layer = this.clamped(this.layer);
        clearTimeout(this.timer);
        if (!this.started) return;
        this.draw();
        if (!this.drag || known) this.panel.update();
        else this.panel.updateLayer();
        if (!this.drag) this.tell();
        this.context.changed();
        if (this.n) this.timer = window.setTimeout(() => this.context.attempt(() => this.askExact()), 150);
    }

    async askExact() {
        const { problem } = this;
        const found = await this.context.compute(problem.tokens, { ...this.hardLayer, budget: 5000 });
        if (problem !== this.problem) return;
        if (found.layers?.length) this.exact = { limit: null, run: runOfLayers(this.d, found) };
        else if (found.limits) {
            const run = runOfLimit(this.floats, this.d, cellFloat(problem.alpha), found);
            this.differences = compareRuns(run, this.floatRun);
            this.exact = { limit: found, run };
        }
        this.layer = this.clamped(this.layer);
        this.reason = found.reason;
        this.panel.update();
        this.tell();
        this.draw();
    }

    /** Add a token at a place of the picture, or else somewhere in it. @param {number[]} [at] */
    add(at) {
        if (this.n >= MOST_TOKENS) throw new Error(`This page takes ${MOST_TOKENS} tokens: delete some first.`);
        const [x, y] = [Math.cos, Math.sin].map((f) => 0.5 + 0.2 * f(2.4 * this.n));
        const free = [x * this.frame.width, y * this.frame.height];
        this.selected = this.n;
        const row = toWorld(this.frame, at ?? free).map((each) => this.coordinate(each));
        this.set({ tokens: [...this.problem.tokens, row], source: "own" });
        this.tell(`token ${this.selected} added`);
    }

    remove() {
        const gone = this.selected;
        if (gone < 0) return this.context.announce("select a token to delete it");
        this.selected = -1;
        this.led = this.led.map((token) => (token === gone ? -1 : token - Number(token > gone)));
        const [about, stays] = [this.called(gone), (/** @type {any} */ _, /** @type {number} */ token) => token !== gone];
        this.set({ tokens: this.problem.tokens.filter(stays), names: this.problem.names.filter(stays), source: "own" });
        this.tell(`${about} deleted`);
    }

    /** Move the start of the selected token along the screen, by pixels.
     * @param {number[]} start @param {number} right @param {number} up @param {boolean} coarse to tenths */
    move(start, right, up, coarse) {
        const { frame } = this;
        const place = start.map((x, c) => x + (right * frame.right[c] + up * frame.up[c]) / frame.scale);
        const row = place.map((x) => this.coordinate(x, coarse));
        this.set({ tokens: this.problem.tokens.map((other, k) => (k === this.selected ? row : other)), source: "own" });
    }

    /** A coordinate with the decimals that a pixel can show, or one. @param {number} x */
    coordinate(x, coarse = false) {
        const digits = coarse ? 1 : Math.max(0, Math.min(12, Math.ceil(Math.log10(this.frame.scale))));
        const rounded = Number(x.toFixed(digits)) + 0;
        // In a notebook what the mouse writes are floats: Python has numbers, not texts.
        return this.context.embedded ? readCell(rounded, "a coordinate") : String(rounded);
    }

    /** From the first layer to the limit; without motion, if that is preferred. */
    begin() {
        this.pause();
        if (this.context.calm) return this.goTo(Infinity);
        this.layer = 0;
        this.play();
    }

    /** @param {number} [until] the layer at which to stop */
    play(until = Infinity) {
        if (this.layer >= this.lastLayer) this.layer = 0;
        const start = this.layer;
        let [before, passed] = [0, 0];
        const frame = (/** @type {number} */ now) => {
            // The whole way takes about five seconds, whatever the step size.
            const rate = until < Infinity ? 0.7 : Math.max(1.2, this.lastLayer / 5);
            passed += (before && Math.min(now - before, 100) / 1000) * rate * this.speed;
            before = now;
            this.layer = start + passed;
            this.playing = requestAnimationFrame(frame);
            if (this.layer >= Math.min(until, this.lastLayer)) this.goTo(until);
            else this.showLayer();
        };
        this.playing = requestAnimationFrame(frame);
        this.tell();
        this.panel.updateLayer();
    }

    pause() {
        cancelAnimationFrame(this.playing);
        this.playing = 0;
        this.layer = this.layer < this.lastLayer ? Math.round(this.layer) : this.layer;
    }

    goTo(/** @type {number} */ layer) {
        this.pause();
        this.caught = false;
        this.layer = layer > this.lastLayer ? this.clamped(Infinity) : Math.max(0, Math.round(layer));
        this.showLayer();
        this.tell();
        this.context.changed();
    }

    /** Say what is shown now: stale words would be wrong ones. @param {string} [event] what has just happened */
    tell(event = "") {
        if (!this.started) return;
        const { selected, n } = this;
        const about = selected >= 0 && selected < n ? this.panel.describe(selected) : "";
        const size = `${plural(n, "token")} in ${plural(this.d, "dimension")}`;
        const parts = this.playing || this.asking ? [size] : [event, about, this.summary()];
        this.context.announce(parts.filter(Boolean).join("; "));
    }

    summary() {
        const leaders = this.run.since.filter((layer) => layer >= 0 && layer <= this.layer).length;
        const where = this.layer === Infinity ? "limit" : `layer ${this.wholeLayer} of ${this.lastLayer}`;
        return `${where}: ${plural(leaders, "leader")}, ${plural(this.n, "token")}`;
    }

    /** Fit the cloud into the picture as large as it is now, or, on paper, as wide as a page.
     * @param {import("./scene.js").Theme} [theme] */
    resize(theme) {
        const { clientWidth, clientHeight } = this.canvas;
        const [width, height, dense] = theme ? [...PAPER_SIZE, 3] : [clientWidth, clientHeight, devicePixelRatio];
        if (!clientWidth || !clientHeight) return;
        for (const canvas of [this.canvas, this.softCanvas]) {
            canvas.width = Math.round((theme ? width : canvas.clientWidth) * dense);
            canvas.height = Math.round((theme ? height : canvas.clientHeight) * dense);
        }
        this.frame = fitFrame(this.floats, this.d, width, height, this);
        this.paint(theme);
    }

    /** Draw before the next frame is shown. */
    draw() {
        this.drawing ||= requestAnimationFrame(() => {
            this.drawing = 0;
            this.paint();
        });
    }

    /** On the canvas of the page, in its colours, or otherwise.
     * @param {import("./scene.js").Theme} [theme] @param {HTMLCanvasElement} [canvas] */
    paint(theme, canvas = this.canvas) {
        const { color: ink, backgroundColor: ground } = getComputedStyle(this.canvas);
        const colours = theme ?? { ink, ground, dark: Number(/\d+/.exec(ground)?.[0]) < 128 };
        const bare = Object.getOwnPropertyDescriptors({ show: new Set(["numbers"]), differences: [] });
        paintScene(canvas, this.asking ? Object.create(this, bare) : this, colours);
        if (canvas !== this.canvas || !this.soft || !this.softCanvas.width || this.asking) return;
        const frame = fitFrame(this.floats, this.d, this.frame.width, this.frame.height, this);
        const others = { run: this.soft, beside: this.run, frame, layer: this.softLayer, differences: [] };
        paintScene(this.softCanvas, Object.create(this, Object.getOwnPropertyDescriptors(others)), colours);
    }

    listen() {
        const { canvas } = this;
        const at = (/** @type {MouseEvent | Touch} */ event) => {
            const box = canvas.getBoundingClientRect();
            return [event.clientX - box.left, event.clientY - box.top];
        };
        canvas.addEventListener("pointerdown", (event) => {
            const place = at(event);
            const found = this.find(place, event.pointerType === "touch" ? 24 : 13);
            if (event.button) return;
            if (found !== -1 && this.playing) {
                this.goTo(this.layer);
                this.caught = true;
            }
            if (this.asking) this.panel.quiz.point(found, place);
            else if (found >= 0 && found !== this.selected) this.select(found);
            const own = this.locked ? "fixed" : found === -2 ? "ellipse" : "token";
            const kind = found === -1 || this.asking ? "view" : own;
            this.drag = { kind, at: place, start: this.startOf(found), moved: false };
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener("pointermove", (event) => {
            const [place, { drag }] = [at(event), this];
            if (!drag) {
                canvas.style.cursor = this.find(place) !== -1 ? "grab" : this.d > 2 ? "move" : "default";
                return;
            }
            const [x, y] = [place[0] - drag.at[0], drag.at[1] - place[1]];
            if (!drag.moved && Math.hypot(x, y) < 3) return;
            if (drag.kind === "view") {
                if (this.d > 2) this.rotate(x / 120, -y / 120);
                else if (this.asking) this.panel.quiz.point(this.find(place), place, false);
                Object.assign(drag, { at: place, moved: true });
            } else if (drag.kind === "token") this.move(drag.start, x, y, event.shiftKey);
            else if (drag.kind === "ellipse") this.set({ metric: metricOfEllipse(this.frame, toWorld(this.frame, place)) });
        });
        const end = () => {
            const { drag } = this;
            this.drag = null;
            if (drag?.kind === "view" && !drag.moved && !this.asking && this.selected >= 0) this.select(-1);
            if (!drag?.moved || drag.kind === "view") return;
            this.changed();
        };
        canvas.addEventListener("pointerup", end);
        canvas.addEventListener("pointercancel", end);
        canvas.addEventListener("dblclick", (event) => {
            if (this.find(at(event)) === -1) this.context.attempt(() => this.add(at(event)));
        });
        // A finger on a token drags it; elsewhere it scrolls the page, unless there is something to rotate.
        const touch = (/** @type {TouchEvent} */ event) => {
            if (this.d > 2 || this.find(at(event.touches[0]), 24) !== -1) event.preventDefault();
        };
        canvas.addEventListener("touchstart", touch, { passive: false });
    }

    /** What is near a place: a token, -2 for the handle of the ellipse, or -1 for nothing. Tokens are found where they
     * are and where they started: these places lie apart when many have gathered at a leader.
     * @param {number[]} place */
    find([x, y], reach = 13) {
        const { frame, run } = this;
        const distance = (/** @type {number[]} */ [a, b]) => Math.hypot(a - x, b - y);
        const end = this.d === 2 && this.show.has("ellipse") ? ellipseEnd(frame, this.metric) : null;
        if (end && distance(toScreen(frame, end)) < reach) return -2;
        let [found, nearest] = [-1, reach];
        for (const rows of [run.layers[0].positions, positionsAt(run, this.layer)]) {
            run.first.forEach((token, point) => {
                const away = distance(toScreen(frame, rows, point));
                if (away < nearest) [found, nearest] = [token, away];
            });
        }
        return found;
    }

    rotate(/** @type {number} */ yaw, /** @type {number} */ pitch) {
        this.yaw -= yaw;
        this.pitch = Math.max(-1.5, Math.min(1.5, this.pitch + pitch));
        Object.assign(this.frame, directionsOf(this.d, this));
        this.draw();
        this.context.changed();
    }

    select(/** @type {number} */ token) {
        this.selected = token;
        this.tell();
        this.showLayer();
        this.context.changed();
    }

    key(/** @type {KeyboardEvent} */ event) {
        const { key, shiftKey, target } = event;
        if (this.panel.tour.key(event)) return true;
        const own = target instanceof HTMLElement && target.matches("[role=tab], button, summary");
        if (this.asking || (own && /^( |Enter|Arrow.*)$/.test(key))) return false;
        const [right, up] = ARROWS[key] ?? [0, 0];
        const { selected, n } = this;
        const isEdit = /^(a|Delete|Backspace)$/.test(key) || ((right || up) && selected >= 0);
        if ((this.locked && isEdit) || (key === "t" && this.panel.quiz.state())) return false;
        if ((right || up) && selected >= 0) {
            // About two pixels, and a power of ten of the world's units.
            const unit = (shiftKey ? 0.1 : 10 ** Math.round(Math.log10(2 / this.frame.scale))) * this.frame.scale;
            this.move(this.startOf(selected), unit * right, unit * up, shiftKey);
        } else if ((right || up) && shiftKey && this.d > 2) this.rotate(right / 10, -up / 10);
        else if (right) this.step(right);
        else if (key === "[" || key === "]") this.step(key === "[" ? -1 : 1);
        else if (key === " ") this.toggle();
        else if (key === "Home" || key === "End") this.goTo(key === "Home" ? 0 : Infinity);
        else if (key === "n" && n) this.select((selected + 1) % n);
        else if (key === "p" && n) this.select((Math.max(0, selected) + n - 1) % n);
        else if (key === "Escape") this.select(-1);
        else if (key === "t") this.panel.tour.start();
        else if (key === "a") this.context.attempt(() => this.add());
        else if (key === "Delete" || key === "Backspace") this.remove();
        else return false;
        return true;
    }

    /** @returns {Values} */
    values() {
        const { tokens, alpha, metric } = this.problem;
        const layer = this.wholeLayer === Infinity ? "limit" : this.wholeLayer;
        return { tokens: tokens.map((row) => row.map(cellValue)), alpha, metric, layer };
    }

    setValues(/** @type {Values} */ { tokens, alpha, metric, layer, mask, value, attention }) {
        const rows = tokens && readRows(tokens, "tokens");
        if (rows && (rows.length !== this.n || rows[0].length !== this.d)) this.use("own", rows);
        else if (rows) this.set({ tokens: rows, source: "own" });
        if (alpha !== undefined) this.set({ alpha: readAlpha(alpha) });
        if (metric !== undefined) this.set({ metric: metric && readSquare(metric, this.d, "metric") });
        if (value !== undefined) this.set({ value: value && readSquare(value, this.d, "value") });
        if (mask !== undefined) this.set({ mask });
        if (attention !== undefined) this.set({ attention });
        if (layer !== undefined) this.goTo(layer === "limit" ? Infinity : layer);
    }

    state() {
        const tour = this.panel.tour.step();
        if (tour >= 0) return { tour: String(tour + 1) };
        const { tokens, names, alpha, metric, source, mask, value, attention } = this.problem;
        const state = /** @type {Record<string, string>} */ ({ alpha, show: [...this.show].join(",") });
        state.layer = this.wholeLayer === Infinity ? "limit" : String(this.wholeLayer);
        if (source !== "own") state.cloud = source;
        else if (rowsText(tokens).length <= URL_LENGTH) state.tokens = rowsText(tokens);
        if (names.some(Boolean)) state.names = names.join(",");
        if (metric) state.metric = rowsText(metric);
        if (value) state.value = rowsText(value);
        const exercise = this.panel.quiz.state();
        Object.assign(state, mask && { mask }, attention && { attention }, exercise);
        if (this.selected >= 0 && !exercise) state.selected = String(this.selected);
        if (this.d > 2) state.view = `${this.yaw.toFixed(2)},${this.pitch.toFixed(2)}`;
        return state;
    }

    /** From a URL that anybody may have written. @param {Record<string, string>} state */
    restore(state) {
        if (/^[1-6]$/.test(state.tour ?? "")) this.tourAt = Number(state.tour) - 1;
        const problem = { ...this.problem };
        const short = Object.values(state).every((text) => text.length <= 2 * URL_LENGTH);
        if (!short || !/^(limit|\d{1,3})?$/.test(state.layer ?? ""))
            throw new Error("The address of this page is damaged: it is too long, or has no layer=limit or a number.");
        const tokens = state.tokens ? readRowsText(state.tokens, "tokens") : state.cloud ? cloudOf(state.cloud) : null;
        const names = (state.names ?? "").split(",", tokens?.length).map((name) => name.trim().slice(0, LONGEST_NAME));
        if (tokens) Object.assign(problem, { tokens, names, source: state.tokens ? "own" : state.cloud, metric: null, value: null });
        const d = problem.tokens[0].length;
        if (state.alpha) problem.alpha = readAlpha(state.alpha);
        if (state.metric) problem.metric = readSquare(state.metric, d, "metric");
        if (state.value) problem.value = readSquare(state.value, d, "value");
        Object.assign(problem, state.mask && { mask: state.mask }, state.attention && { attention: state.attention });
        checkLayer(problem, d);
        const [yaw, pitch] = (state.view ?? "").split(",").map(Number);
        if (Math.abs(yaw) < 100 && Math.abs(pitch) <= 1.5) Object.assign(this, { yaw, pitch });
        const shown = state.show?.split(",");
        if (shown) this.show = new Set(SWITCHES.flatMap(([name]) => (shown.includes(name) ? [name] : [])));
        const selected = /^\d{1,4}$/.test(state.selected ?? "") ? Number(state.selected) : -1;
        this.selected = selected < problem.tokens.length ? selected : -1;
        this.asked = state.ask ? [state.ask, state.lock !== undefined] : null;
        Object.assign(this, { problem, led: [], restored: state.layer !== undefined });
        this.changed();
        this.layer = this.clamped(state.layer === "limit" ? Infinity : Math.min(Number(state.layer ?? 0), this.lastLayer));
    }
}

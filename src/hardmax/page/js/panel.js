// The controls of the Dynamics room, what it says in words, and the table of all numbers.
import { MOST_DIMENSIONS, MOST_TOKENS, NAMED_CLOUDS, cellFloat, cloudFloats, pythonLines, readAlpha, readCell } from "./cloud.js";
import { download, el, labelled } from "./dom.js";
import { certificateText } from "./exact.js";
import { attendedTokens, positionsAt } from "./floats.js";
import { canvasPen, drawScene, ellipseAxes, svgPen } from "./scene.js";

/** What can be shown, and whether it is at first. @type {[string, string, boolean][]} */
export const SWITCHES = [
    ["paths", "Paths", true],
    ["polytope", "Polytope of the leaders", true],
    ["cells", "Cells of the leaders", true],
    ["follow", "Who follows whom", false],
    ["halfspace", "Half-space of the selected token", true],
    ["numbers", "Numbers of the tokens", false],
    ["ellipse", "Ellipse of the metric, to pull", false],
];
const PAPER = { ink: "#1b1b1b", ground: "#ffffff" };
const TABLE_ROWS = 200;

/**
 * Builds the room's page around its canvas.
 * @param {HTMLElement} root
 * @param {import("./dynamics.js").DynamicsRoom} room
 */
export function buildPanel(root, room) {
    const { context } = room;
    const button = (/** @type {string} */ words, /** @type {() => unknown} */ click, title = "") => el("button", { type: "button", click: () => room.guard(click), title: title || null }, words);

    // -- layers
    const slider = el("input", { type: "range", min: 0, step: 1, class: "hm-wide", input: () => room.goTo(Number(slider.value) > room.lastLayer ? Infinity : Number(slider.value), false), change: () => context.announce(room.summary()) });
    const layerName = el("span", {}, "Layer");
    const playButton = button("Play", () => (room.playing ? room.goTo(Math.round(room.layer)) : room.play()));
    const transport = el("div", { class: "hm-transport", role: "group", "aria-label": "Layers" },
        playButton,
        button("Back", () => room.stepBy(-1), "One layer back"),
        button("Step", () => room.stepBy(1), "One layer on"),
        button("To the limit", () => room.goTo(Infinity), "Infinitely many layers"),
        el("label", { class: "hm-label hm-grow" }, layerName, slider));
    const verdict = el("div", { class: "hm-verdict", "aria-live": "polite" });
    const legend = el("p", { class: "hm-note" }, "★ leader, with the layer since which it leads · filled: where a token is now · hollow: where it started · same colour and shape: same leader · grey: between leaders");

    // -- the cloud
    const names = Object.entries(NAMED_CLOUDS).map(([key, { label }]) => el("option", { value: key }, label));
    const cloud = el("select", { change: () => room.guard(() => {
        if (cloud.value !== "own") room.choose(cloud.value === "random" ? randomSource() : cloud.value);
        begin();
    }) }, el("option", { value: "random" }, "Random"), ...names, el("option", { value: "own" }, "Your own"));
    const number = (/** @type {number} */ value, /** @type {number} */ most, /** @type {number} */ least = 1) => el("input", { type: "number", min: least, max: most, value, change: drawRandom });
    const [sizeField, dimensionField, seedField] = [number(60, MOST_TOKENS), number(2, MOST_DIMENSIONS), number(14, 2 ** 32 - 1, 0)];
    const random = el("div", { class: "hm-row" },
        labelled("Tokens", sizeField), labelled("Dimensions", dimensionField), labelled("Seed", seedField),
        button("Another", () => {
            seedField.value = String((Number(seedField.value) + 1) % 2 ** 32);
            drawRandom();
        }, "The next seed"));
    const about = el("p", { class: "hm-note" });
    const file = el("input", { type: "file", accept: ".csv,.tsv,.txt,.json", class: "hm-file", change: () => file.files?.[0] && room.openFile(file.files[0]) });
    const pasted = el("textarea", { rows: 4, spellcheck: "false", placeholder: "1, 1/3\n-0.5, 2" });

    // -- the step
    const alpha = el("input", { type: "text", size: 6, inputmode: "text", change: () => setAlpha(alpha.value) });
    const alphaSlider = el("input", { type: "range", min: -2, max: 1, step: 0.01, "aria-label": "Step size, slider", input: () => setAlpha(String(Number((10 ** Number(alphaSlider.value)).toPrecision(2)))) });

    // -- what is shown
    const switches = SWITCHES.map(([name, label]) => {
        const box = el("input", { type: "checkbox", change: () => {
            if (box.checked) room.show.add(name);
            else room.show.delete(name);
            room.draw();
            context.changed();
        } });
        return { name, box, label: el("label", { class: "hm-check" }, box, ` ${label}`) };
    });
    const [shown, ellipse] = [switches.slice(0, -1), switches[switches.length - 1]];

    // -- metric and arithmetic
    const metric = el("div", { class: "hm-matrix", role: "group", "aria-label": "Metric A" });
    const metricNote = el("p", { class: "hm-note" });
    const ties = el("select", { change: () => {
        room.slack = ties.value === "slack" ? 1e-12 : 0;
        room.changedCloud();
    } }, el("option", { value: "equal" }, "if they are equal (==)"), el("option", { value: "slack" }, "if they agree to 12 digits"));

    const save = el("div", { class: "hm-row" },
        button("PNG", savePng), button("SVG", saveSvg), button("CSV", saveCsv),
        button("Certificate", saveCertificate, "A proof of the limit that hm.verify checks"),
        button("Copy Python", () => copy(pythonLines(room.tokens, room.alpha, room.metric, room.layer), "Python lines")),
        button("Copy link", () => copy(location.href, "link")));

    const controls = el("div", { class: "hm-controls" },
        group("Cloud", labelled("Begin with", cloud), random, about,
            el("div", { class: "hm-row" }, button("Add token", () => room.addSomewhere()), button("Delete token", () => room.remove()), button("Undo", () => room.undo())),
            el("details", {}, el("summary", {}, "Your own tokens"),
                el("p", { class: "hm-note" }, "One token per line, its coordinates separated by commas. Fractions such as 1/3 are taken as they are. You can also drop a CSV or JSON file on this page, or paste one."),
                labelled("CSV or JSON file", file), labelled("Tokens", pasted), button("Use these tokens", () => room.paste(pasted.value)))),
        group("Step size alpha", el("div", { class: "hm-row" }, labelled("alpha", alpha, "Such as 0.5 or 1/2"), el("div", { class: "hm-grow" }, alphaSlider))),
        group("Show", ...shown.map(({ label }) => label)),
        el("details", { class: "hm-group" }, el("summary", {}, "Metric and arithmetic"),
            el("p", { class: "hm-note" }, "Token z looks along A z. Pull the corners of the ellipse, or type the numbers of A."),
            ellipse.label, metric, metricNote, button("Identity", () => room.edit(() => (room.metric = null))), labelled("Floats call two scores a tie", ties)),
        el("details", { class: "hm-group" }, el("summary", {}, "Save and share"), save));

    const table = el("table", { class: "hm-table" });
    const more = button("Show all rows", () => fillTable(Infinity));
    const numbers = el("details", { class: "hm-group", toggle: () => fillTable() }, el("summary", {}, "All numbers"), el("div", { class: "hm-scroll", tabindex: 0, role: "region", "aria-label": "Table of all numbers" }, table), more);

    root.append(
        el("div", { class: "hm-intro" },
            el("p", {}, "Each mark is a token. In every layer it looks outward from the centre, picks the token that lies furthest in its own direction, and moves some of the way towards it. A token that picks itself is a leader (★): it stays for ever, and the others gather at the leaders, or exactly between them where two tie."),
            el("p", {}, el("b", {}, "Drag a token"), " to see who leads then; double-click to add one.")),
        el("div", { class: "hm-stage" }, el("div", {}, room.canvas, transport, verdict, legend), controls),
        numbers);

    /** @param {string} title @param {...(Node | string)} children */
    function group(title, ...children) {
        return el("fieldset", { class: "hm-group" }, el("legend", {}, title), ...children);
    }

    function randomSource() {
        const [n, d, seed] = [sizeField, dimensionField, seedField].map((field) => {
            const value = Number(field.value);
            return Number.isInteger(value) ? Math.min(Number(field.max), Math.max(Number(field.min), value)) : Number(field.min);
        });
        return `random:${n},${d},${seed}`;
    }

    function drawRandom() {
        room.guard(() => {
            room.choose(randomSource());
            begin();
        });
    }

    /** A new cloud plays at once. */
    function begin() {
        if (context.calm) room.goTo(Infinity);
        else room.play();
    }

    /** @param {string} text */
    function setAlpha(text) {
        room.guard(() => {
            const step = readAlpha(text);
            room.edit(() => (room.alpha = step));
        });
    }

    /** @param {string} text @param {string} what */
    async function copy(text, what) {
        await navigator.clipboard.writeText(text);
        context.announce(`${what} copied`);
    }

    function savePng() {
        const { width, height } = room.frame;
        const canvas = el("canvas", { width: 2 * width, height: 2 * height });
        const brush = canvas.getContext("2d");
        if (!brush) return;
        brush.scale(2, 2);
        brush.fillStyle = PAPER.ground;
        brush.fillRect(0, 0, width, height);
        drawScene(canvasPen(brush), room.scene(PAPER));
        canvas.toBlob((blob) => blob && download("hardmax.png", blob, "image/png"));
    }

    function saveSvg() {
        const { width, height } = room.frame;
        const { pen, text } = svgPen(width, height, PAPER.ground);
        drawScene(pen, room.scene(PAPER));
        download("hardmax.svg", text(), "image/svg+xml");
    }

    function saveCsv() {
        download("tokens.csv", `${room.tokens.map((row) => row.join(",")).join("\n")}\n`, "text/csv");
    }

    async function saveCertificate() {
        const limit = room.exact?.limit;
        if (!limit?.limits) throw new Error("there is no exact limit to certify yet: wait until it is proved, or change the cloud.");
        const certificate = await context.compute("certificate", limit, { alpha: room.alpha, metric: room.metric });
        download("certificate.json", certificateText(/** @type {Record<string, any>} */ (certificate)), "application/json");
    }

    /** @param {number[]} tokens */
    function listed(tokens) {
        const named = tokens.slice(0, 6).join(", ").replace(/, (\d+)$/, " and $1");
        return tokens.length > 6 ? `${tokens.length} tokens` : `token${tokens.length > 1 ? "s" : ""} ${named}`;
    }

    /** @param {ArrayLike<number>} rows @param {number} row */
    function place(rows, row) {
        return `(${Array.from({ length: room.d }, (_, c) => Number(rows[row * room.d + c].toPrecision(5))).join(", ")})`;
    }

    /** The limit of a token, as a fraction where that is short. @param {number} token */
    function limitOf(token) {
        const { run, exact } = room;
        const end = exact?.limit.limits?.[exact.limit.ofToken[token]];
        if (end && end.point.join().length <= 10 * room.d) return `(${end.point.join(", ")})`;
        return run.limits ? place(run.limits, run.ofToken[token]) : "";
    }

    /** What exact arithmetic says about the floats. @param {string} reason why there is no exact limit */
    function describeRun(reason) {
        const { exact, float, differences, n } = room;
        /** @type {(Node | string)[]} */
        const lines = [];
        if (!n) lines.push("No tokens. Add one with the key a, or choose a cloud.");
        else if (reason) lines.push(`Exact arithmetic ${reason}. What you see is computed in floats and not proved.`);
        else if (!exact) lines.push("Floats; exact arithmetic is on its way …");
        else {
            const { limit, run } = exact;
            const leaders = limit.leaders.length;
            const between = Array.from({ length: n }, (_, token) => token).filter((token) => limit.limits?.[limit.ofToken[token]].kind !== "vertex");
            lines.push(`Proved in exact arithmetic: no choice changes after layer ${limit.settledAt}. ${leaders} ${leaders === 1 ? "leader" : "leaders"}, and ${between.length ? `${listed(between)} ${between.length > 1 ? "end" : "ends"} between them` : "every token ends at one"}.`);
            for (const { token, layer, exactly, floats } of differences.slice(0, 4)) {
                const why = layer === null ? "because of whom it follows" : exactly.length > 1
                    ? `at layer ${layer} token ${token} ties between ${exactly.slice(0, 6).join(" and ")}, and floats see only ${floats.slice(0, 6).join(" and ")}`
                    : `at layer ${layer} token ${token} attends to ${exactly}, and floats say ${floats.slice(0, 6).join(" and ")}`;
                lines.push(el("strong", {}, `Floats say that token ${token} ends at ${place(positionsAt(float, Infinity), float.ofToken[token])}; exactly, it ends at ${limitOf(token)}: ${why}.`));
            }
            if (differences.length > 4) lines.push(`${differences.length - 4} more tokens end elsewhere in floats.`);
            if (!differences.length) {
                const last = run.layers[run.layers.length - 1];
                for (const token of between.slice(0, 2)) {
                    if (last.several.has(run.ofToken[token])) lines.push(`Token ${token} ties between ${attendedTokens(run, token, Infinity).slice(0, 6).join(" and ")} for ever and ends at ${limitOf(token)}.`);
                }
            }
        }
        verdict.replaceChildren(...lines.map((line) => el("p", {}, line)));
        verdict.classList.toggle("hm-differs", differences.length > 0);
    }

    /** @param {number} token */
    function describe(token) {
        const { run, layer } = room;
        const since = run.since[run.ofToken[token]];
        const where = place(positionsAt(run, layer), run.ofToken[token]);
        const what = since >= 0 && since <= layer ? `leads since layer ${since}` : `attends to ${listed(attendedTokens(run, token, layer))}`;
        return `token ${token} at ${where} ${what}`;
    }

    function fillTable(rows = TABLE_ROWS) {
        if (!numbers.open) return;
        const { run, layer, exact, n } = room;
        const now = positionsAt(run, layer);
        const kinds = { vertex: "leader", face: "between leaders, on a face", point: "elsewhere" };
        const head = ["Token", "Start", room.layer === Infinity ? "At the limit" : `At layer ${Math.round(layer)}`, "Attends to", "Leader since", "Limit", "Kind of limit"];
        const body = Array.from({ length: Math.min(n, rows) }, (_, token) => {
            const point = run.ofToken[token];
            const end = exact?.limit.limits?.[exact.limit.ofToken[token]];
            const cells = [room.tokens[token].join(", "), place(now, point), attendedTokens(run, token, layer).slice(0, 12).join(", "), run.since[point] >= 0 ? run.since[point] : "", limitOf(token), end ? kinds[end.kind] : "not proved"];
            return el("tr", { class: token === room.selected ? "hm-chosen" : null }, el("th", { scope: "row" }, String(token)), ...cells.map((cell) => el("td", {}, String(cell))));
        });
        table.replaceChildren(el("thead", {}, el("tr", {}, ...head.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, ...body));
        more.hidden = n <= body.length;
    }

    function fillMetric() {
        const { d } = room;
        if (metric.contains(document.activeElement)) return;
        const rows = room.metric ?? Array.from({ length: d }, (_, r) => Array.from({ length: d }, (_, c) => (r === c ? "1" : "0")));
        metric.style.gridTemplateColumns = `repeat(${d}, minmax(3em, 5em))`;
        metric.replaceChildren(...(d > 6 ? ["The identity, or what was given: more than 6 dimensions are not shown."] : rows.flatMap((row, r) => row.map((value, c) => {
            const field = el("input", { type: "text", value, "aria-label": `A, row ${r + 1}, column ${c + 1}`, change: () => room.guard(() => {
                const cell = readCell(field.value, `A, row ${r + 1}, column ${c + 1}`);
                const next = rows.map((old, k) => old.map((x, l) => (k === r && l === c ? cell : x)));
                field.blur();
                room.edit(() => (room.metric = next));
            }) });
            return field;
        }))));
        ellipse.label.hidden = d !== 2;
        const plain = d === 2 && !ellipseAxes(room.frame, room.metric && cloudFloats(room.metric));
        metricNote.textContent = plain ? "A is not symmetric positive definite: the theorem does not apply, and tokens may go round in circles." : "";
    }

    return {
        describe,
        /** @param {string} reason */
        verdict: (reason) => describeRun(reason),
        updateLayer() {
            const { layer, lastLayer, run, playing } = room;
            slider.max = String(lastLayer + (run.limits ? 1 : 0));
            slider.value = String(layer === Infinity ? lastLayer + 1 : Math.floor(layer));
            layerName.textContent = layer === Infinity ? "Layer ∞: the limit" : `Layer ${Math.floor(layer)} of ${lastLayer}, then ∞`;
            slider.setAttribute("aria-valuetext", layer === Infinity ? "limit" : `layer ${Math.floor(layer)}`);
            playButton.textContent = playing ? "Pause" : "Play";
            if (!playing && !room.stale) fillTable();
        },
        /** Everything after a change of the cloud. */
        update() {
            const [kind, rest] = room.source.split(":");
            cloud.value = kind;
            random.hidden = kind !== "random";
            if (rest) [sizeField.value, dimensionField.value, seedField.value] = rest.split(",");
            about.textContent = NAMED_CLOUDS[kind]?.about ?? "";
            about.hidden = !about.textContent;
            if (document.activeElement !== alpha) alpha.value = room.alpha;
            alphaSlider.value = String(Math.log10(cellFloat(room.alpha)));
            for (const { name, box } of switches) box.checked = room.show.has(name);
            ties.value = room.slack ? "slack" : "equal";
            room.canvas.setAttribute("aria-label", `Picture of ${room.n} tokens in ${room.d} dimensions. The table below it has all numbers.`);
            fillMetric();
            if (room.exact || !room.n) describeRun("");
            else if (!verdict.textContent) describeRun("");
            this.updateLayer();
        },
    };
}

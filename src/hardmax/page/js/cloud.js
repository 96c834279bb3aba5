/**
 * Clouds of tokens: read from CSV and JSON, named, random, and written again. Coordinates are texts all the way, so that
 * 0.1 is a tenth and 1/3 a third; floats are made of them for drawing alone.
 *
 * @typedef {string[][]} Tokens  rows of numbers, all of the same length
 * @typedef {{label: string, about: string, tokens: () => Tokens, alpha?: string}} NamedCloud
 */
import { readNumber } from "./exact.js";

/** More would not be drawn in time, nor told apart. */
export const MOST_TOKENS = 2000;
export const MOST_DIMENSIONS = 16;
const MOST_CHARACTERS = 1 << 20; // of a file or a paste that are looked at
const LONGEST_NUMBER = 400;
const LARGEST_NUMBER = 1e9;

/**
 * A number as a text, checked.
 * @param {unknown} value a text is what it says, a number the binary fraction that it is
 * @param {string} where for the message
 */
export function readCell(value, where) {
    let text = String(value).trim();
    if (typeof value === "number" && Number.isFinite(value)) {
        const [binary, decimal] = [readNumber(value), readNumber(text)];
        if (binary.p !== decimal.p || binary.q !== decimal.q) text = `${binary.p}/${binary.q}`;
    }
    const fine = text.length <= LONGEST_NUMBER && /^[+-]?(\d+\/\d+|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)$/i.test(text);
    if (!fine || !(Math.abs(cellFloat(text)) <= LARGEST_NUMBER)) {
        const came = text.length > 24 ? `${text.slice(0, 24)}…` : text;
        throw new Error(`${where}: expected a number such as 0.5, 1/3 or -2e-3 of at most a billion, not “${came}”.`);
    }
    return text;
}

/** A step size, checked. @param {unknown} value @returns {string} */
export function readAlpha(value) {
    const text = readCell(typeof value === "number" ? String(value) : value, "alpha");
    const step = cellFloat(text);
    if (!(step >= 1e-3 && step <= 1e3) || text.length > 40) throw new Error(`alpha must be between 0.001 and 1000, such as 1/2 or 0.5, not ${text.slice(0, 20)}.`);
    return text;
}

/** @param {string} text a number that `readCell` has seen */
export function cellFloat(text) {
    const [over, under] = text.split("/");
    return under === undefined ? Number(over) : Number(over) / Number(under);
}

/** The float that a text stands for exactly, or the text. @param {string} text a number that `readCell` has seen */
export function cellValue(text) {
    const float = cellFloat(text);
    const [exact, binary] = [readNumber(text), readNumber(float)];
    return exact.p === binary.p && exact.q === binary.q ? float : text;
}

/** @param {Tokens} tokens */
export function cloudFloats(tokens) {
    return Float64Array.from(tokens.flat(), cellFloat);
}

/**
 * Rows of texts or numbers, checked.
 * @param {unknown} rows @param {string} name
 * @returns {Tokens}
 */
export function readRows(rows, name) {
    if (!Array.isArray(rows) || !rows.length) throw new Error(`${name} holds no tokens: expected rows of numbers.`);
    if (rows.length > MOST_TOKENS) throw new Error(`${name} holds ${rows.length} tokens: this page takes ${MOST_TOKENS}.`);
    const width = Array.isArray(rows[0]) ? rows[0].length : 0;
    if (!width || width > MOST_DIMENSIONS) throw new Error(`${name}, row 1: expected 1 to ${MOST_DIMENSIONS} numbers.`);
    return rows.map((row, i) => {
        if (!Array.isArray(row) || row.length !== width) throw new Error(`${name}, row ${i + 1}: expected ${width} numbers, as in row 1.`);
        return row.map((cell, c) => readCell(cell, `${name}, row ${i + 1}, column ${c + 1}`));
    });
}

/**
 * A cloud from the text of a CSV or JSON file. Of a long one the beginning is read, and `note` says how much.
 * @param {string} text @param {string} name @param {number} [size] characters of the whole, where `text` was cut
 * @returns {{tokens: Tokens, note: string}}
 */
export function parseCloud(text, name, size = text.length) {
    const start = text.slice(0, MOST_CHARACTERS).replace(/^\uFEFF/, "").trimStart();
    const cut = size > MOST_CHARACTERS;
    if (/^[[{]/.test(start)) {
        if (cut) throw new Error(`${name} is too long: JSON files of up to 1 MB are read. Save the first ${MOST_TOKENS} tokens as CSV.`);
        // Numbers become texts before they are parsed: 0.1 stays a tenth.
        const quoted = start.replace(/"[^"]*"|-?\d[\d.eE+-]*/g, (found) => (found[0] === '"' ? found : `"${found}"`));
        /** @type {any} */
        let document = null;
        try {
            document = JSON.parse(quoted);
        } catch {
            throw new Error(`${name} is not JSON: expected [[0, 1], [1, 0]].`);
        }
        return { tokens: readRows(document?.tokens ?? document, name), note: "" };
    }
    const lines = start.split(/\r?\n|\r/, MOST_TOKENS + 3);
    if (cut && lines.length < MOST_TOKENS + 3) lines.pop(); // its end was cut off
    const mark = [";", "\t"].find((each) => lines[0].includes(each)) ?? ",";
    let rows = lines.filter((line) => line.trim()).map((line) => line.split(mark).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1")));
    // Names of columns begin with a letter.
    if (rows[0]?.every((cell) => /^[\s#]*\p{L}/u.test(cell) && !/^(nan|inf)/i.test(cell))) rows = rows.slice(1);
    const more = cut || rows.length > MOST_TOKENS;
    const tokens = readRows(rows.slice(0, MOST_TOKENS), name);
    return { tokens, note: more ? `${name} is long: its first ${tokens.length.toLocaleString("en")} rows were read, the others were not.` : "" };
}

/** @param {File} file */
export async function readCloudFile(file) {
    return parseCloud(await file.slice(0, MOST_CHARACTERS).text(), file.name.slice(0, 60), file.size);
}

/**
 * A random cloud: each coordinate is a sum of four numbers, so that most tokens lie near the origin, in thousandths.
 * @param {number} n @param {number} d @param {number} seed
 * @returns {Tokens}
 */
export function randomCloud(n, d, seed) {
    let state = seed >>> 0;
    // mulberry32: 32 bits of state, a few multiplications; good enough for pictures.
    const draw = () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 15), state | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return Math.floor(((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32 * 1000);
    };
    const coordinate = () => String((draw() + draw() + draw() + draw() - 1998) / 1000);
    return Array.from({ length: n }, () => Array.from({ length: d }, coordinate));
}

/** Rows of integers over a denominator. @param {number[][]} rows @param {number} [under] @returns {Tokens} */
function cloudOver(rows, under = 1) {
    return rows.map((row) => row.map((x) => (x % under ? (16 % under ? `${x}/${under}` : String(x / under)) : String(x / under))));
}

const SQUARE_CORNERS = [[1, 1], [-1, 1], [-1, -1], [1, -1]];
const IN_QUADRANTS = [[8, 0], [-8, 0], [-9, 9], [10, -8], [-6, -11], [8, 13]];

/** Vertices of a regular polygon, counterclockwise from (radius, 0). @param {number} sides @param {number} radius @returns {Tokens} */
function polygonCloud(sides, radius) {
    return Array.from({ length: sides }, (_, k) => [Math.cos, Math.sin].map((f) => String(Number((radius * f((2 * Math.PI * k) / sides)).toFixed(6)) + 0)));
}

/** Clouds by name; the first four are like the rows of the paper's Figure 2. @type {Record<string, NamedCloud>} */
export const NAMED_CLOUDS = {
    triangle: {
        label: "Triangle",
        about: "Three leaders and six tokens inside.",
        tokens: () => cloudOver([[16, 16], [8, -8], [-16, -16], [14, 11], [10, 1], [-5, -11], [5, 2], [-11, -14], [10, 7]], 16),
    },
    emerging: {
        label: "Emerging leader",
        about: "Token 1 first follows token 3. That one leaves, and from layer 1 on token 1 leads.",
        tokens: () => [["1", "1/3"], ["-1/12", "1/12"], ["-1", "-1"], ["0", "1/4"], ["-0.3", "-0.7"], ["-0.6", "-0.9"], ["0.8", "0.1"], ["0.6", "0.15"]],
    },
    square: {
        label: "Square",
        about: "Four leaders; each token goes to the one in its quadrant.",
        tokens: () => cloudOver([...SQUARE_CORNERS.map((row) => row.map((x) => 16 * x)), [8, -6], [8, 12], [-6, -7], [-11, 5], [3, 5], [-15, -4]], 16),
    },
    nonleader: {
        label: "Clusters without a leader",
        about: "Tokens 4 and 5 tie between two corners each, for ever: they end in the middle of an edge.",
        tokens: () => cloudOver([...SQUARE_CORNERS.map((row) => row.map((x) => 16 * x)), ...IN_QUADRANTS], 16),
    },
    rotated: {
        label: "The same, rotated: floats go wrong",
        about: "The cloud before, rotated by the angle of the 3-4-5 triangle. The ties are still there, but floats store no fifths and lose them.",
        tokens: () => cloudOver([...SQUARE_CORNERS.map((row) => row.map((x) => 16 * x)), ...IN_QUADRANTS].map(([x, y]) => [3 * x - 4 * y, 4 * x + 3 * y]), 80),
    },
    pentagon: {
        label: "Pentagon",
        about: "The small tokens point at the middles of the edges. Only the one on the axis really ties: decimals are no cosines.",
        tokens: () => [...polygonCloud(5, 1), ...polygonCloud(5, -0.4), ...polygonCloud(5, 0.55)],
    },
    line: {
        label: "On a line",
        about: "All tokens on one line through the origin: its two ends lead.",
        tokens: () => cloudOver([[-6, -3], [-4, -2], [-2, -1], [1, 0.5], [2, 1], [3, 1.5], [8, 4]], 4).map(([x, y]) => [x, y]),
    },
    cube: {
        label: "Cube (3-D)",
        about: "Eight leaders. Tokens on an axis end in the middle of a side, those between two axes in the middle of an edge.",
        tokens: () => [
            ...cloudOver([0, 1, 2, 3, 4, 5, 6, 7].map((k) => [k & 1, k & 2, k & 4].map((bit) => (bit ? 1 : -1)))),
            ...cloudOver([[8, 0, 0], [0, -8, 0], [8, 8, 0], [-6, 0, 6], [5, 3, 9], [-7, 6, -2], [4, -9, 3], [-3, -5, -8], [9, 2, -6], [-2, 7, 5]], 16),
        ],
    },
};

/** @param {string[][]} rows for a URL */
export function rowsText(rows) {
    return rows.map((row) => row.join(",")).join(";");
}

/** @param {string} text @param {string} name */
export function readRowsText(text, name) {
    return readRows(text.split(";", MOST_TOKENS + 1).map((row) => row.split(",", MOST_DIMENSIONS + 1)), name);
}

/**
 * Lines of Python that give the same run.
 * @param {Tokens} tokens @param {string} alpha @param {string[][] | null} metric @param {number} layer
 */
export function pythonLines(tokens, alpha, metric, layer) {
    const table = (/** @type {string[][]} */ rows, /** @type {string} */ gap) => `[${rows.map((row) => JSON.stringify(row)).join(`,${gap}`)}]`;
    const more = metric ? `, metric=${table(metric, " ")}` : "";
    return [
        "import hardmax as hm",
        "",
        `tokens = ${table(tokens, "\n          ")}`,
        `lim = hm.limit(tokens, hm.Dynamics(alpha="${alpha}"${more}))`,
        "print(lim.settled_at, lim.leaders, lim.kind)",
        Number.isFinite(layer) ? `print(lim.run.at(${layer}))` : "print(lim.points)",
        "",
    ].join("\n");
}

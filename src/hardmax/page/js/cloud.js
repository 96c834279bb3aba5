/** Clouds of tokens: named, random, read from CSV, and written again. Coordinates are texts all the way, so that 0.1 is
 * a tenth and 1/3 a third; floats are made of them for drawing alone.
 *
 * @typedef {string[][]} Tokens  rows of numbers, all of the same length */
import { readNumber } from "./exact.js";

export const MOST_TOKENS = 2000; // more would not be told apart
export const MOST_DIMENSIONS = 16;
export const LONGEST_NAME = 20; // of a token
export const MOST_CHARACTERS = 1 << 20; // of a file or a paste that are looked at

/** Clouds by name: what they are called, what there is to see, and their tokens. The first four are
 * the rows of the paper's Figure 2; `clouds.py` has them, too, and says where they come from.
 * @type {Record<string, [string, string, string]>} */
export const NAMED_CLOUDS = {
    triangle: [
        "Triangle",
        "Three leaders and six tokens inside. Token 8 first follows token 5, which does not lead.",
        "1,1; 0.5,-0.5; -1,-1; 0.87763,0.97845; 0.09886,0.493489; -0.203029,-0.959099; " +
            "-0.382364,-0.924231; 0.3,-0.2; 0.1,-0.2",
    ],
    emerging: [
        "Emerging leader", "Token 1 first follows token 3. That one leaves, and from layer 1 on token 1 leads.",
        "1,1/3; -1/12,1/12; -1,-1; 0,1/4; -0.3,-0.7; -0.6,-0.9; 0.8,0.1; 0.6,0.15",
    ],
    square: [
        "Square", "Four leaders; each token goes to the one in its quadrant.",
        "1,1; -1,1; -1,-1; 1,-1; 0.068907,-0.089914; -0.017795,-0.038629; 0.327852,-0.037617; " +
            "-0.05164,-0.473912; -0.002479,0.486572; 0.418464,-0.192676",
    ],
    nonleader: [
        "Clusters without a leader",
        "Tokens 4 and 5 tie between two corners each, for ever: they end in the middle of an edge.",
        "1,1; -1,1; -1,-1; 1,-1; 0.5,0; -0.5,0; -0.382129,0.315192; -0.40129,0.111869; " +
            "-0.01119,-0.206427; -0.415533,-0.235861",
    ],
    rotated: [
        "The same, rotated: floats fail",
        "The cloud above, rotated by the angle of the 3-4-5 triangle. The ties are still there, but floats cannot " +
            "store fifths and lose them.",
        "-0.2,1.4; -1.4,-0.2; 0.2,-1.4; 1.4,0.2; 0.3,0.4; -0.3,-0.4; -0.481431,-0.116588; " +
            "-0.3302692,-0.2539106; 0.1584276,-0.1328082; -0.060631,-0.473943",
    ],
    cube: [
        "Cube, in three dimensions",
        "Tokens on an axis end in the middle of a side, those between two axes in the middle of an edge.",
        "1,1,1; 1,1,-1; 1,-1,1; 1,-1,-1; -1,1,1; -1,1,-1; -1,-1,1; -1,-1,-1; 0.5,0,0; 0,-0.5,0; 0.5,0.5,0; " +
            "-0.375,0,0.375; 0.3125,0.1875,0.5625; -0.4375,0.375,-0.125; 0.25,-0.5625,0.1875; -0.1875,-0.3125,-0.5",
    ],
};

/** Whether a text is a number. @param {string} text @param {import("./exact.js").Ratio} number */
const cellIs = (text, number) => `${Object.values(readNumber(text))}` === `${Object.values(number)}`;

/** A number as a text, checked: a text is what it says, a number the binary fraction that it is.
 * @param {any} value @param {string} where for the message */
export function readCell(value, where) {
    const isFloat = typeof value === "number";
    const number = readNumber(isFloat ? value : String(value), where);
    const text = isFloat && !cellIs(String(value), number) ? `${number.p}/${number.q}` : String(value).trim();
    if (text.length <= 400 && Math.abs(cellFloat(text)) <= 1e9) return text;
    throw new Error(`${where}: expected a number of at most a billion and 400 characters, not “${text.slice(0, 24)}”.`);
}

/** A step size, checked. @param {unknown} value @returns {string} */
export function readAlpha(value) {
    const text = readCell(String(value), "alpha");
    const fine = cellFloat(text) >= 1e-3 && cellFloat(text) <= 1e3 && text.length <= 40;
    if (!fine) throw new Error(`alpha must be between 0.001 and 1000, such as 1/2 or 0.5, not ${text.slice(0, 20)}.`);
    return text;
}

export const cellFloat = (/** @type {string} */ text) => text.split("/").map(Number).reduce((p, q) => p / q);

/** The float that a text stands for exactly, or the text. @param {string} text a number that `readCell` has seen */
export const cellValue = (text) => (cellIs(text, readNumber(cellFloat(text))) ? cellFloat(text) : text);

/** Rows that have been read: while one drags, all rows but one stay as they are. @type {WeakMap<string[], number[]>} */
const CLOUD_FLOATS = new WeakMap();

export function cloudFloats(/** @type {Tokens} */ tokens) {
    for (const row of tokens) if (!CLOUD_FLOATS.has(row)) CLOUD_FLOATS.set(row, row.map(cellFloat));
    return Float64Array.from(tokens.flatMap((row) => CLOUD_FLOATS.get(row) ?? []));
}

/** Rows of texts or numbers, checked. @param {unknown} rows @param {string} name @returns {Tokens} */
export function readRows(rows, name) {
    if (!Array.isArray(rows) || !rows.length) throw new Error(`${name}: no tokens found, expected rows of numbers.`);
    if (rows.length > MOST_TOKENS) throw new Error(`${name}: more than ${MOST_TOKENS} tokens. Take fewer.`);
    const width = Array.isArray(rows[0]) ? rows[0].length : 0;
    if (!width || width > MOST_DIMENSIONS) throw new Error(`${name}, row 1: expected 1 to ${MOST_DIMENSIONS} numbers.`);
    return rows.map((row, i) => {
        if (row?.length !== width) throw new Error(`${name}, row ${i + 1}: expected ${width} numbers, as in row 1.`);
        return Array.from(row, (cell, c) => readCell(cell, `${name}, row ${i + 1}, column ${c + 1}`));
    });
}

/** A square table, also as a text. @param {unknown} rows @param {number} d @param {"metric" | "value"} name */
export function readSquare(rows, d, name) {
    const table = typeof rows === "string" ? readRowsText(rows.trim(), name) : readRows(rows, name);
    if (table.length !== d || table[0].length !== d) throw new Error(`${name} must be ${d} by ${d}.`);
    return table;
}

/** Rows from “1,1; 1/2,0”, or from lines. @param {string} text @param {string} name */
export function readRowsText(text, name) {
    return readRows(text.split(/[;\n]/, MOST_TOKENS + 1).map((row) => row.split(",", MOST_DIMENSIONS + 1)), name);
}

/** “1,1;1/2,0”, or with lines. @param {Tokens} rows */
export const rowsText = (rows, between = ";") => rows.map((row) => row.join(",")).join(between);

/** A cloud from CSV, by the rules of Python's `read_cloud`. Of a long one the beginning is read, and `note` says so.
 * @param {string} text @param {string} name @param {number} [size] characters of the whole, if `text` is its
 * beginning @returns {{tokens: Tokens, names: string[], note: string}} a row may begin with a name: “Ann, 1, 0” or “Ann: 1, 0” */
export function parseCsv(text, name, size = text.length) {
    const start = text.slice(0, MOST_CHARACTERS).replace(/^\uFEFF/, "").trimStart();
    const lines = start.split(/\r?\n|\r/, MOST_TOKENS + 2);
    const long = size > MOST_CHARACTERS || lines.length === MOST_TOKENS + 2;
    if (size > MOST_CHARACTERS) lines.pop(); // its end may be missing
    // The semicolon first: where it separates, a comma may be somebody's decimal point.
    const mark = [";", "\t"].find((each) => lines[0]?.includes(each)) ?? ",";
    const rows = lines.filter((line) => line.trim()).map((line) => line.replace(/^(\s*\p{L}[^:,;]*):/u, `$1${mark}`).split(mark, MOST_DIMENSIONS + 2));
    const cells = rows.map((row) => row.map((cell) => cell.trim().replace(/^"(.*)"$/, "$1")));
    const isWord = (/** @type {string} */ cell) => /^#?\s*\p{L}/u.test(cell) && !/^(nan|inf(inity)?)$/i.test(cell);
    if (cells[0]?.every(isWord)) cells.shift();
    const names = cells.map((row) => (isWord(row[0]) ? row.shift() ?? "" : "").replace(/,/g, " ").slice(0, LONGEST_NAME));
    const tokens = readRows(cells.slice(0, MOST_TOKENS), name);
    const count = tokens.length.toLocaleString("en");
    return { tokens, names: names.some(Boolean) ? names : [], note: long ? `${name} is long: its first ${count} rows were read, the others were not.` : "" };
}

/** What somebody types, as CSV has it: no parentheses, and the minus of the keyboard. */
export const plainRows = (/** @type {string} */ text) => text.replace(/[()]/g, "").replace(/\u2212/g, "-");

/** A random cloud, in thousandths. Each coordinate is the sum of four numbers, so most tokens are near the origin.
 * @param {number} n @param {number} d @param {number} seed @returns {Tokens} */
function randomCloud(n, d, seed) {
    let state = seed >>> 0;
    // A counter, and a hash of 32 bits that spreads it: good enough for pictures.
    const draw = () => {
        state = (state + 0x9e3779b9) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
        mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
        return ((mixed ^ (mixed >>> 15)) >>> 0) % 1000;
    };
    const coordinate = () => String((draw() + draw() + draw() + draw() - 1998) / 1000);
    return Array.from({ length: n }, () => Array.from({ length: d }, coordinate));
}

/** The cloud of a name, or of “random:n,d,seed”. @param {string} source @returns {Tokens} */
export function cloudOf(source) {
    if (Object.hasOwn(NAMED_CLOUDS, source)) return readRowsText(NAMED_CLOUDS[source][2], source);
    const [n, d, seed] = (/^random:(\d{1,4}),(\d{1,2}),(\d{1,9})$/.exec(source) ?? []).slice(1).map(Number);
    if (n >= 1 && n <= MOST_TOKENS && d >= 1 && d <= MOST_DIMENSIONS) return randomCloud(n, d, seed);
    const names = Object.keys(NAMED_CLOUDS).join(", ");
    throw new Error(`cloud must be ${names}, or random:n,d,seed with at most ${MOST_TOKENS} tokens.`);
}

/** Lines of Python that give the same. @param {import("./dynamics.js").Problem} problem @param {number} at */
export function pythonLines({ tokens, source, names, ...layer }, at) {
    const rows = tokens.map((row) => `    ${JSON.stringify(row)},\n`).join("");
    const given = Object.entries(layer).flatMap(([name, part]) => (part ? [`${name}=${JSON.stringify(part)}`] : []));
    const call = `(tokens, hm.Dynamics(${given.join(", ")})`;
    const shown = Number.isFinite(at) ? `lim.run.at(${at})` : "lim.limit_points";
    const lines = layer.mask || layer.value || layer.attention
        ? [`run = hm.simulate${call}, layers=${at})`, `print(run.at(${at}))`]
        : [`lim = hm.limit${call})`, `print(lim.leaders, ${shown})`];
    return ["import hardmax as hm", "", `tokens = [\n${rows}]`, ...lines, ""].join("\n");
}

// From a text to its words: Python's tokeniser. A word is a run of letters and digits with apostrophes
// inside, "13.1" is one, too; characters of scripts without spaces, and emoji, are words of their own,
// each with the signs that belong to it; an emoticon that stands apart is a word, too.

const TEXT_KINDS =
    "separator apostrophe mark end tag letter sign joiner solo lead flag".split(" ");
/** Stands for a word that was taken out: a word that no model knows. */
const TAKEN_OUT = "\u22ef";

/** Ranges of characters, in hexadecimal; a later line wins over an earlier one, and what is in none is a letter.
 * @type {[string, string][]} */
const TEXT_RANGES = [
    ["separator", "0-2F 3A-40 5B-60 7B-A9 AB-B1 B4 B6-B8 BB BF D7 F7 37E 387 55A-55F 5BE 60C 61B 61F"],
    ["separator", "66A-66D 6D4 964-965 2000-200B 200E-206F 20A0-20CF 2190-25FF 2E00-2E7F 3000-3003 3008-301F 30FB"],
    ["separator", "D800-DFFF FE10-FE1F FE30-FE6F FEFF FF01-FF0F FF1A-FF20 FF3B-FF40 FF5B-FF65 FFF9-FFFF"],
    ["solo", "E01-E2F E46 E81-EAF EBD EC6 EDC-EDF 1000-102A 103F 104C-1055 105A-108F 109A-109F A9E0-A9EF A9FA-A9FF"],
    ["solo", "AA60-AA7A AA7E-AA7F 1780-17B3 17D7 17DC 2600-27BF 2B00-2BFF 1F000-1FAFF 2E80-2FDF 3005-3007 3021-3029"],
    ["solo", "3031-3035 3038-303C 3400-4DBF 4E00-9FFF F900-FAFF 20000-3FFFD 3041-3096 309D-309F 1B001-1B11F"],
    ["solo", "3105-312F 31A0-31BF A000-A4CF 17000-18D7F 1B170-1B2FF 22EF"],
    ["sign", "300-36F 20D0-20F0 FE00-FE0F E30-E3A E45 E47-E4E EB0-EBC EC8-ECE 102B-103E 1056-1059 105E-1060 1062-1064"],
    ["sign", "1067-106D 1071-1074 1082-108D 108F 109A-109D A9E5 AA7B-AA7D 17B4-17D3 17DD 200C 302A-302F"],
    ["sign", "3099-309C 30FC 1F3FB-1F3FF E0020-E007F E0100-E01EF"],
    ["joiner", "200D 1039 17D2"],
    ["lead", "E40-E44 EC0-EC4"],
    ["flag", "1F1E6-1F1FF"],
    ["separator", "E3F E4F E5A-E5B F01-F0C F3A-F3D 104A 17D9-17DB"],
    ["end", "F0D-F12 F14 104B 17D4-17D6 17D8 21-22 28-29 3A-3B 3F 5B 5D 7B 7D AB BB 37E 60C 61B 61F"],
    ["end", "6D4 964-965 2013-2014 201C-201E 2026 3001-3002 300A-300D 3010-3011"],
    ["end", "FF01 FF08-FF09 FF0C FF0E FF1A-FF1B FF1F"],
    ["apostrophe", "27 2019"],
    ["mark", "2C-2E"],
    ["tag", "3C"],
];

/** Digits, of which a number may have many of one kind: 1000. */
const TEXT_DIGITS = "0-9٠-٩۰-۹०-९০-৯੦-੯૦-૯୦-୯௦-௯౦-౯೦-೯൦-൯๐-๙໐-໙༠-༩၀-၉០-៩０-９";
/** Eyes and a mouth, which may be repeated, with or without a nose; or a heart. */
const TEXT_EMOTICON = String.raw`(?:[:;=][-']?(?=[)(\][/|\\dpoDPO])|<(?=3))(?<mouth>.)\k<mouth>*`;

/** @returns {{kinds: Uint8Array, folded: Map<string, string>}} the kind of every character, and what folding changes */
export function textCharacters() {
    const kinds = new Uint8Array(0x110000).fill(TEXT_KINDS.indexOf("letter"));
    for (const [kind, ranges] of TEXT_RANGES) {
        for (const range of ranges.split(" ")) {
            const [first, last] = range.split("-").map((code) => parseInt(code, 16));
            kinds.fill(TEXT_KINDS.indexOf(kind), first, (last ?? first) + 1);
        }
    }
    const folded = new Map([["\u2019", "'"]]);
    for (let code = 0x41; code < 0x2000; code = code === 0x5a ? 0x80 : code === 0x58f ? 0x1e00 : code + 1) {
        const lower = String.fromCharCode(code).toLowerCase();
        if (lower.length === 1 && lower.charCodeAt(0) !== code) folded.set(String.fromCharCode(code), lower);
    }
    return { kinds, folded };
}

/** @type {{pieces: RegExp, solo: RegExp, emoticon: RegExp, stretching: RegExp, folded: Map<string, string>}
 *     | undefined} */
let textPatternsMade;

/** What cuts texts, made when it is first needed: groups of `pieces` are solo, word, emoticon. */
function textPatterns() {
    if (textPatternsMade) return textPatternsMade;
    const { kinds, folded } = textCharacters();
    const ranges = TEXT_KINDS.map(() => "");
    for (let first = 0, code = 1; code <= kinds.length; code++) {
        if (kinds[code] === kinds[first]) continue;
        ranges[kinds[first]] += `\\u{${first.toString(16)}}-\\u{${(code - 1).toString(16)}}`;
        first = code;
    }
    const of = (/** @type {string[]} */ ...names) =>
        `[${names.map((name) => ranges[TEXT_KINDS.indexOf(name)]).join("")}]`;
    const [lead, flag, signs] = [of("lead"), of("flag"), `(?:${of("sign")}|${of("joiner")}${of("solo", "flag")}?)*`];
    const solo = `(?:${lead}?${of("solo")}|${lead}|${flag}${flag}?)${signs}`;
    const letter = of("letter", "sign", "joiner");
    const letters = `${letter}+`;
    const emoticon = String.raw`(?<![^\0-\x20>])${TEXT_EMOTICON}(?!\k<mouth>|${letter})`;
    const inside = `(?:${of("apostrophe")}|(?<=[0-9])[.,](?=[0-9]))`;
    const word = `${letters}(?:${inside}${letters})*`;
    const tagOrWord = `</?[A-Za-z][^<>]{0,200}>|(?<solo>${solo})|(?<word>${word})|(?<emoticon>${emoticon})`;
    textPatternsMade = {
        pieces: new RegExp(`${tagOrWord}|--|[.,]|${of("end")}`, "gu"),
        solo: new RegExp(solo, "uy"),
        emoticon: new RegExp(`^${TEXT_EMOTICON}$`, "u"),
        stretching: new RegExp(`(?![${TEXT_DIGITS}])${of("letter")}`, "u"),
        folded,
    };
    return textPatternsMade;
}

/** A word as models know it: in lower case, with plain apostrophes; a letter that stands more than twice
 * in a row stands twice, or three times if there is no other; an emoticon has no nose and one mouth.
 * @param {string} word */
export function textFold(word) {
    const { emoticon, stretching, folded } = textPatterns();
    const isAscii = /^[\x00-\x7f]*$/.test(word);
    const lower = isAscii ? word.toLowerCase()
        : Array.from(word, (character) => folded.get(character) ?? character).join("");
    if (emoticon.test(lower)) return lower[0] + lower[lower.length - 1];
    return lower.replace(/(.)\1\1+/gsu, (run, letter) =>
        (stretching.test(letter) ? letter.repeat(run === lower ? 3 : 2) : run));
}

/** The words of a text. `gap` joins a word to the one before in a phrase: it is null if a clause ended between them,
 * and empty between two solos, unless these would become one. @param {string} text */
export function textWords(text) {
    const { pieces, solo } = textPatterns();
    const words = /** @type {{surface: string, start: number, end: number, gap: string | null}[]} */ ([]);
    let isFirst = true;
    for (const piece of text.matchAll(pieces)) {
        const { emoticon, solo: alone, word = emoticon ?? alone } = piece.groups ?? {};
        if (word !== undefined) {
            const surface = textFold(word);
            let gap = isFirst ? null : " ";
            if (gap && alone) {
                const before = words[words.length - 1].surface;
                solo.lastIndex = 0;
                gap = solo.test(before + surface) && solo.lastIndex === before.length ? "" : " ";
            }
            words.push({ surface, start: piece.index, end: piece.index + word.length, gap });
        }
        isFirst = word === undefined;
    }
    return words;
}

/** The text with ⋯ in the place of each word: no phrase arises that nobody wrote, and words attend as
 * before. `origin` says where each character was.
 * @param {string} text @param {{start: number, end: number}[]} words in order */
export function withoutWords(text, words) {
    const origin = /** @type {number[]} */ ([]);
    let [done, at] = ["", 0];
    const keep = (/** @type {number} */ until) => {
        done += text.slice(at, until);
        for (; at < until; at++) origin.push(at);
    };
    for (const { start, end } of words) {
        keep(start);
        done += TAKEN_OUT;
        origin.push(start);
        at = end;
    }
    keep(text.length);
    return { text: done, origin };
}

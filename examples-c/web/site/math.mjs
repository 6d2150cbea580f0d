// The formulas of the pages as MathML, which browsers draw without a script: the part of LaTeX that the pages use. What it does not
// know is an error.

const letters = {
  alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", eta: "η", theta: "θ", kappa: "κ", lambda: "λ", mu: "μ", pi: "π", rho: "ρ",
  sigma: "σ", tau: "τ", phi: "φ", psi: "ψ", ell: "ℓ", nabla: "∇", infty: "∞",
};
const operators = {
  cdot: "·", times: "×", leq: "≤", geq: "≥", neq: "≠", leftarrow: "←", sim: "∼", in: "∈", sum: "∑", prod: "∏", pm: "±", ldots: "…", mid: "|",
  lvert: "|", rvert: "|", lVert: "‖", rVert: "‖", "{": "{", "}": "}", ",": "", ";": "", quad: "",
};
const named = ["min", "max", "log", "exp", "clip", "tanh", "sign", "arg"];
const accents = { hat: "^", bar: "¯", tilde: "~" };
const spaces = { ",": "0.17em", ";": "0.28em", quad: "1em" };

const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const row = (parts) => parts.length === 1 ? parts[0] : `<mrow>${parts.join("")}</mrow>`;

// One line of LaTeX as the inside of a math element.
function line(source) {
  const tokens = source.match(/\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\S/g) ?? [];
  let at = 0;
  const fail = (why) => { throw new Error(`${why} in the formula ${source}`); };
  const group = () => {
    if (tokens[at] !== "{") return atom();
    at++;
    const inside = sequence("}");
    return row(inside);
  };
  const text = () => {
    const begin = source.split("").length && tokens.slice(0, at + 1).join(" ");
    if (tokens[at] !== "{") fail(`no { after ${begin}`);
    const end = tokens.indexOf("}", at), words = tokens.slice(at + 1, end);
    at = end + 1;
    return words;
  };
  const atom = () => {
    const token = tokens[at++] ?? fail("an end too early");
    if (token === "{") return at--, group();
    if (/^\d/.test(token)) return `<mn>${token}</mn>`;
    if (/^[A-Za-z]$/.test(token)) return `<mi>${token}</mi>`;
    if (!token.startsWith("\\")) return `<mo${"()[]|".includes(token) ? ' stretchy="false"' : ""}>${escaped(token === "-" ? "−" : token)}</mo>`;
    const name = token.slice(1);
    if (name === "frac") return `<mfrac>${group()}${group()}</mfrac>`;
    if (name === "sqrt") return `<msqrt>${group()}</msqrt>`;
    if (name === "mathbb") return `<mi mathvariant="normal">${{ E: "𝔼" }[text().join("")] ?? fail("a letter")}</mi>`;
    if (name === "mathcal") return `<mi>${{ H: "ℋ", N: "𝒩", L: "ℒ" }[text().join("")] ?? fail("a letter")}</mi>`;
    if (name === "text") return `<mtext>${escaped(words())}</mtext>`;
    if (accents[name]) return `<mover accent="true">${group()}<mo>${accents[name]}</mo></mover>`;
    if (name === "left" || name === "right") {
      if (name === "right") fail("\\right without \\left");
      const open = tokens[at++], inside = sequence("\\right"), close = tokens[at++];
      const fence = (sign) => sign === "." ? "" : `<mo stretchy="true">${escaped(sign.replace(/^\\/, ""))}</mo>`;
      return `<mrow>${fence(open)}${inside.join("")}${fence(close)}</mrow>`;
    }
    if (spaces[name]) return `<mspace width="${spaces[name]}"></mspace>`;
    if (letters[name]) return `<mi>${letters[name]}</mi>`;
    if (named.includes(name)) return `<mi>${name}</mi>`;
    if (name in operators) return `<mo stretchy="false">${escaped(operators[name])}</mo>`;
    return fail(`\\${name}`);
  };
  // Spaces count in \text, which tokens do not keep.
  const words = () => {
    const all = [...source.matchAll(/\\text\{([^}]*)\}/g)].map((match) => match[1]);
    const index = tokens.slice(0, at).filter((token) => token === "\\text").length - 1;
    text();
    return all[index];
  };
  const scripted = () => {
    const base = atom();
    let below, above;
    for (;;) {
      if (tokens[at] === "_") at++, below = group();
      else if (tokens[at] === "^") at++, above = group();
      else if (tokens[at] === "'") at++, above = row([...(above ? [above] : []), "<mo>′</mo>"]);
      else break;
    }
    const under = /∑|∏|>(min|max)</.test(base) && base.length < 60;
    const [both, low, high] = under ? ["munderover", "munder", "mover"] : ["msubsup", "msub", "msup"];
    if (below && above) return `<${both}>${base}${below}${above}</${both}>`;
    return below ? `<${low}>${base}${below}</${low}>` : above ? `<${high}>${base}${above}</${high}>` : base;
  };
  const sequence = (end) => {
    const parts = [];
    while (at < tokens.length && tokens[at] !== end) parts.push(scripted());
    if (end && tokens[at++] !== end) fail(`no ${end}`);
    return parts;
  };
  return sequence().join("");
}

// A block of formulas, one a line, each its own.
export function math(source) {
  const lines = source.split("\n").filter((text) => text.trim());
  return `<div class="math">${lines.map((text) => `<math display="block"><mrow>${line(text)}</mrow></math>`).join("")}</div>`;
}

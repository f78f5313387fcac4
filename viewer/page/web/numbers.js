// Numbers as text: exactly, as Python writes them, and short.

// Return the shortest digits that read back exactly, as Python's repr does.
function exactText(value) {
  if (value !== value) return "NaN";
  const size = Math.abs(value);
  if (size === Infinity) return value < 0 ? "-inf" : "inf";
  if (size !== 0 && (size < 1e-4 || size >= 1e16)) return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  if (Object.is(value, -0)) return "-0.0";
  return Number.isInteger(value) ? value + ".0" : String(value);
}

// Return a number with six digits, without trailing zeros.
function shortText(value, digits = 6) {
  if (value !== value) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size === Infinity) return value < 0 ? "−∞" : "∞";
  const text = size < 1e-4 || size >= 10 ** Math.max(digits, 6) ? value.toExponential(digits - 1)
    : String(+value.toPrecision(digits));
  return text.replace("-", "−").replace(/e\+?/, " e").replace(" e-", " e−");
}

// Return a force with a unit: 50 mN, 2 kN.
function forceText(newtons) {
  const [name, size] = [["kN", 1e3], ["N", 1], ["mN", 1e-3],
    ["µN", 1e-6]].find((each) => Math.abs(newtons) >= 0.9995 * each[1]) || ["µN", 1e-6];
  return newtons ? `${+(newtons / size).toPrecision(3)} ${name}` : "0 N";
}

// Return the number of decimals that distinguish one step from the next.
const stepDigits = (step) => clamp(Math.ceil(-Math.log10(step || 1e-3) - 1e-9), 0, 9);

const csvText = (text) => /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

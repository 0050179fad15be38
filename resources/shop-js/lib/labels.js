// Words on labels and receipts.

export function capitalized(word) {
  const first = word.charAt(0).toUpperCase();
  return first + word.slice(1);
}

export function trimmed(text) {
  const short = text.trim();
  return short;
}

export function priceLabel(price) {
  const label = price.toFixed(2);
  return label;
}

export function dollarLabel(price) {
  const label = "$" + price;
  return label;
}

export function wordsOnLabel(words) {
  const label = words.join(" ");
  return label;
}

export function dottedLine(width) {
  const dots = ".".repeat(width);
  return dots;
}

export function startsWith(text, word) {
  const starts = text.startsWith(word);
  return starts;
}

export function endsWith(text, word) {
  const ends = text.endsWith(word);
  return ends;
}

export function containsWord(text, word) {
  const contains = text.includes(word);
  return contains;
}

// Words on labels and receipts.

export function capitalized(word) {
  const first = word.charAt(0).toUpperCase();
  return first + word.slice(1);
}

export function shortened(text, longest) {
  if (text.length <= longest) {
    return text;
  }
  return text.slice(0, longest - 1) + "…";
}

export function priceLabel(cents) {
  const whole = Math.floor(cents / 100);
  const rest = String(cents % 100).padStart(2, "0");
  return `${whole}.${rest}`;
}

export function receiptLine(name, cents, width) {
  const price = priceLabel(cents);
  const dots = ".".repeat(Math.max(1, width - name.length - price.length));
  return name + dots + price;
}

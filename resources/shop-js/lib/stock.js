// What is on the shelves: objects of name -> pieces.

export function hasEnough(stock, name, pieces) {
  const there = stock[name] ?? 0;
  return there >= pieces;
}

export function taken(stock, name, pieces) {
  if (!hasEnough(stock, name, pieces)) {
    throw new RangeError(`there is not enough ${name}`);
  }
  return { ...stock, [name]: stock[name] - pieces };
}

export function piecesInStock(stock) {
  let pieces = 0;
  for (const count of Object.values(stock)) {
    pieces += count;
  }
  return pieces;
}

export function toReorder(stock, least) {
  const missing = {};
  for (const [name, count] of Object.entries(stock)) {
    if (count < least) {
      missing[name] = 2 * least - count;
    }
  }
  return missing;
}

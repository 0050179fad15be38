// Orders: lists of { name, pieces, price }.

export function piecesInOrder(order) {
  let pieces = 0;
  for (const line of order) {
    pieces += line.pieces;
  }
  return pieces;
}

export function linesInOrder(order) {
  const lines = order.length;
  return lines;
}

export function isEmptyOrder(order) {
  const empty = order.length === 0;
  return empty;
}

export function namesInOrder(order) {
  const names = order.map((line) => line.name);
  return names;
}

export function shipping(cost) {
  const free = cost === 0 || cost >= 40;
  return free ? 0 : 4;
}

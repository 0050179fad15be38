// Orders: lists of { name, pieces, price }.

export function piecesInOrder(order) {
  let pieces = 0;
  for (const line of order) {
    pieces += line.pieces;
  }
  return pieces;
}

export function costOfOrder(order) {
  let cost = 0;
  for (const line of order) {
    cost += line.pieces * line.price;
  }
  return cost;
}

export function namesInOrder(order) {
  const names = order.map((line) => line.name);
  return names.sort();
}

export function dearestLine(order) {
  let dearest = null;
  for (const line of order) {
    if (dearest === null || line.price > dearest.price) {
      dearest = line;
    }
  }
  return dearest;
}

export function shipping(order) {
  const cost = costOfOrder(order);
  if (cost === 0) {
    return 0;
  }
  return cost >= 40 ? 0 : 4;
}

function largest(values) {
  let best = values[0];
  for (const value of values) {
    if (value > best) {
      best = value;
    }
  }
  return best;
}

function lastItem(values) {
  return values[values.length - 1];
}

function squares(values) {
  return values.map((value) => value * value);
}

function withoutNegatives(values) {
  return values.filter((value) => value >= 0);
}

module.exports = { largest, lastItem, squares, withoutNegatives };

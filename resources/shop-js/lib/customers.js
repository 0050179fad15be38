// Customers: their names, and how they are greeted.

export function fullName(first, last) {
  const name = first + " " + last;
  return name;
}

export function initials(first, last) {
  const letters = first[0] + last[0];
  return letters;
}

export function greeting(name) {
  const words = "Hello, " + name + "!";
  return words;
}

export function nameLine(names) {
  const line = names.join(", ");
  return line;
}

export function sortedNames(names) {
  const sorted = [...names].sort();
  return sorted;
}

export function reversedNames(names) {
  const reversed = [...names].reverse();
  return reversed;
}

export function numberOfCustomers(names) {
  const number = names.length;
  return number;
}

export function firstCustomer(names) {
  const first = names[0];
  return first;
}

export function lastCustomer(names) {
  const last = names[names.length - 1];
  return last;
}

export function hasNoCustomers(names) {
  const empty = names.length === 0;
  return empty;
}

export function nameInCapitals(name) {
  const capitals = name.toUpperCase();
  return capitals;
}

export function nameInSmallLetters(name) {
  const small = name.toLowerCase();
  return small;
}

export function wordsOfName(name) {
  const words = name.split(" ");
  return words;
}

export function lengthOfName(name) {
  const length = name.length;
  return length;
}

export function isCustomer(names, name) {
  const known = names.includes(name);
  return known;
}

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

export function numberOfCustomers(names) {
  const number = names.length;
  return number;
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

export function isCustomer(names, name) {
  const known = names.includes(name);
  return known;
}

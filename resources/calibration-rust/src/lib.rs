pub fn rectangle_area(width: i64, height: i64) -> i64 {
    width * height
}

pub fn is_even(number: i64) -> bool {
    number % 2 == 0
}

pub fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

pub fn double(number: i64) -> i64 {
    number * 2
}

pub fn absolute(number: i64) -> i64 {
    if number >= 0 {
        number
    } else {
        -number
    }
}

pub fn largest(values: &[i64]) -> i64 {
    let mut best = values[0];
    for &value in values {
        if value > best {
            best = value;
        }
    }
    best
}

pub fn last_item(values: &[i64]) -> i64 {
    values[values.len() - 1]
}

pub fn squares(values: &[i64]) -> Vec<i64> {
    values.iter().map(|value| value * value).collect()
}

pub fn without_negatives(values: &[i64]) -> Vec<i64> {
    values.iter().copied().filter(|value| *value >= 0).collect()
}

pub fn first_letter(word: &str) -> char {
    word.chars().next().unwrap()
}

pub fn initials(name: &str) -> String {
    name.split_whitespace().map(|part| part[..1].to_uppercase()).collect()
}

pub fn longest_word(words: &[&str]) -> String {
    let mut best = "";
    for word in words {
        if word.len() > best.len() {
            best = word;
        }
    }
    best.to_string()
}

use tiny::*;

#[test]
fn rectangles() {
    assert_eq!(rectangle_area(3, 4), 12);
    assert_eq!(rectangle_area(0, 9), 0);
}

#[test]
fn even_numbers() {
    assert!(is_even(4));
    assert!(!is_even(7));
}

#[test]
fn averages() {
    assert_eq!(average(&[1.0, 2.0, 6.0]), 3.0);
    assert_eq!(average(&[5.0]), 5.0);
}

#[test]
fn doubles() {
    assert_eq!(double(4), 8);
    assert_eq!(double(-3), -6);
}

#[test]
fn absolutes() {
    assert_eq!(absolute(-5), 5);
    assert_eq!(absolute(5), 5);
    assert_eq!(absolute(0), 0);
}

#[test]
fn largest_of_all() {
    assert_eq!(largest(&[3, 9, 4]), 9);
    assert_eq!(largest(&[-3, -9]), -3);
}

#[test]
fn last_items() {
    assert_eq!(last_item(&[1, 2, 3]), 3);
    assert_eq!(last_item(&[7]), 7);
}

#[test]
fn squared() {
    assert_eq!(squares(&[1, -2, 3]), [1, 4, 9]);
    assert!(squares(&[]).is_empty());
}

#[test]
fn no_negatives() {
    assert_eq!(without_negatives(&[1, -2, 0, -4]), [1, 0]);
    assert!(without_negatives(&[-1]).is_empty());
}

#[test]
fn first_letters() {
    assert_eq!(first_letter("apple"), 'a');
    assert_eq!(first_letter("Zoo"), 'Z');
}

#[test]
fn initials_of_names() {
    assert_eq!(initials("ada lovelace"), "AL");
    assert_eq!(initials("Grace Brewster Hopper"), "GBH");
}

#[test]
fn longest() {
    assert_eq!(longest_word(&["a", "three", "of"]), "three");
    assert_eq!(longest_word(&["same", "size"]), "same");
}

-- Tables of the auction site. Statements end with a semicolon at the end of a line. {IDENTITY} and
-- {TIMESTAMP} are filled in for each database (Dialect). Indexes follow in indexes.sql, after the rows.
-- Ids run through items and old_items together: an auction that ended keeps its number. What points
-- to an item that may have ended (comments, buy_now) therefore has no foreign key.
CREATE TABLE categories (
  id INT PRIMARY KEY,
  name VARCHAR(40) NOT NULL
);
CREATE TABLE regions (
  id INT PRIMARY KEY,
  name VARCHAR(40) NOT NULL
);
CREATE TABLE users (
  id {IDENTITY},
  nickname VARCHAR(40) NOT NULL,
  first_name VARCHAR(20) NOT NULL,
  last_name VARCHAR(24) NOT NULL,
  email VARCHAR(60) NOT NULL,
  password_hash VARCHAR(44) NOT NULL,
  region INT NOT NULL,
  rating INT NOT NULL,
  member_since {TIMESTAMP} NOT NULL
);
CREATE TABLE items (
  id {IDENTITY},
  name VARCHAR(80) NOT NULL,
  description VARCHAR(4000) NOT NULL,
  category INT NOT NULL,
  region INT NOT NULL,
  seller INT NOT NULL,
  initial_cents INT NOT NULL,
  reserve_cents INT NOT NULL,
  buy_now_cents INT NOT NULL,
  quantity INT NOT NULL,
  bid_count INT NOT NULL,
  max_bid_cents INT NOT NULL,
  start_time {TIMESTAMP} NOT NULL,
  end_time {TIMESTAMP} NOT NULL
);
CREATE TABLE old_items (
  id INT PRIMARY KEY,
  name VARCHAR(80) NOT NULL,
  description VARCHAR(4000) NOT NULL,
  category INT NOT NULL,
  region INT NOT NULL,
  seller INT NOT NULL,
  buyer INT NOT NULL,
  initial_cents INT NOT NULL,
  buy_now_cents INT NOT NULL,
  quantity INT NOT NULL,
  bid_count INT NOT NULL,
  max_bid_cents INT NOT NULL,
  start_time {TIMESTAMP} NOT NULL,
  end_time {TIMESTAMP} NOT NULL
);
CREATE TABLE bids (
  id {IDENTITY},
  item INT NOT NULL,
  bidder INT NOT NULL,
  quantity INT NOT NULL,
  cents INT NOT NULL,
  placed {TIMESTAMP} NOT NULL
);
CREATE TABLE buy_now (
  id {IDENTITY},
  item INT NOT NULL,
  buyer INT NOT NULL,
  quantity INT NOT NULL,
  bought {TIMESTAMP} NOT NULL
);
CREATE TABLE comments (
  id {IDENTITY},
  author INT NOT NULL,
  about INT NOT NULL,
  item INT NOT NULL,
  rating INT NOT NULL,
  written {TIMESTAMP} NOT NULL,
  text VARCHAR(600) NOT NULL
);

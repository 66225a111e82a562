-- From the outermost frame inwards: each has the code of its caller, if it is the JDK's, else its own.
CREATE VIEW stack_code AS
WITH RECURSIVE
    frames AS (SELECT id, parent, regexp_matches(name, '^(java|javax|jdk|sun|com\.sun)\.') AS of_jdk FROM stacks),
    own AS (
        SELECT id, if(of_jdk, NULL, id) AS code FROM frames WHERE parent IS NULL
        UNION ALL
        SELECT f.id, if(f.of_jdk, o.code, f.id) FROM frames f JOIN own o ON f.parent = o.id)
SELECT o.id AS stack, c.name AS code, c.file, c.line
FROM own o JOIN stacks c ON c.id = coalesce(o.code, o.id)

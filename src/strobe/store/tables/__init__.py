"""Table definitions, one module per noun: `TABLES` is SQL with the placeholders of `Dialect.types`.

They make up version 1 of the schema. After a release they are frozen: changes go into a new migration in
`strobe.store.schema`.
"""

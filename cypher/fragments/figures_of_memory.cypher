// The policy's figures for a memory: those of its type and category, else those of its type.

coalesce(
  $figures[memory.memory_type + '/' + memory.category],
  $figures[memory.memory_type]
) AS figures

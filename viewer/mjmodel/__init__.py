"""Facts read off an mjModel and its mjData: names, sensors, contacts, pairs, friction."""

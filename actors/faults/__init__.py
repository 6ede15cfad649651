"""What a scenario does to the world: schedule, targets, actions on agents, links and privacy, effects on links."""

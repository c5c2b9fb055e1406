"""Privacy-MaxEnt on releases of any size [MaxEnt]."""

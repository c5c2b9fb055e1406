"""What an adversary knows, as statements; and statements as linear rows over P(q, s, b) [MaxEnt]."""

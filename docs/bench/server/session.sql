SELECT user_id FROM sessions WHERE token_hash = sha256(convert_to(:uid::text, 'UTF8')) AND expires_at > NOW();

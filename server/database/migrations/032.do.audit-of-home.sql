-- Invitations and roles by API keys (Home shows them for 7 days), and requests for another plan (one a day).
CREATE INDEX audit_log_of_home ON audit_log (team_id, id)
  WHERE outcome = 'done' AND (action = 'team.plan_requested' OR (
    actor_kind = 'key' AND action IN ('invitation.made', 'invitation.sent_again', 'member.role_changed')));

import type { Coverage } from './coverage-table.ts';

/** Sections 2.3, 2.4, 3.5, 5.3 and 12, and what 4.1 and 8 say of people. */
export const people: Coverage = {
  '2.3 id (usr_…, of the': {
    'teams/members.test.ts': [
      'GET /v1/team/members shows the five fields of each, oldest first, and of this team alone',
      'a person has another id in each team',
    ],
  },
  '2.4 invitation_id (inv_…), email, role': {
    'teams/list-invitations.test.ts': ['shows live ones, newest first, with the four fields and no link'],
  },
  '3.5 Live for 7 days': {
    'teams/end-invitation.test.ts': [
      '30 days after one was accepted, revoked or over it is forgotten; live ones stay, however often sent again (section 3.5)',
    ],
    'teams/accept-invitation.test.ts': [
      'used, revoked or expired: 404 that says which; sent again or never made: 404 that says that there is none',
      'of 20 who press the button at once one becomes the member',
    ],
    'database/member-invariants.test.ts': ['an invitation is accepted or revoked, never both'],
  },
  '4.1 GET /v1/team/members': {
    'teams/members.test.ts': [
      'GET /v1/team/members shows the five fields of each, oldest first, and of this team alone',
    ],
  },
  '4.1 PUT /v1/team/members/:id/role {role?} admin': {
    'teams/members.test.ts': [
      'answers the Member as it then is, and notes who changed it from what',
      'refuses an owner’s role with param id, and owner as a role with param role',
    ],
  },
  '4.1 DELETE /v1/team/members/:id': {
    'teams/members.test.ts': [
      'keys that the person made go on working, unless revoke_keys=true ends them, and them alone',
      'refuses an owner with param id, by key and by owner',
    ],
  },
  '4.1 POST /v1/team/members/invite {email, role}': {
    'teams/invite.test.ts': [
      'answers 201 with the Invitation, good for 7 days, and without SMTP the link, which begins with APP_URL',
      'takes addresses as people type them, and compares them folded',
      'a member’s address and that of somebody who is invited are 409, param email; other teams don’t matter',
      'counts members and open invitations against the plan: 402 with limit, current and upgrade_url',
    ],
  },
  '4.1 GET /v1/team/invitations limit, cursor': {
    'teams/list-invitations.test.ts': ['walks in pages of limit, 50 by default, and shows each once'],
  },
  '4.1 DELETE /v1/team/invitations/:id': {
    'teams/end-invitation.test.ts': ['a revoked one opens nothing, and is gone'],
  },
  '5.3 owner': {
    'http/member-access-matrix.slow.test.ts': ['lets … … do what the role includes and nothing else'],
    'teams/owners.test.ts': [
      'an owner makes an owner, again changes nothing, and takes the role: an admin is left',
    ],
  },
  '5.3 admin': {
    'http/member-access-matrix.slow.test.ts': ['lets … … do what the role includes and nothing else'],
    'audit/audit.test.ts': ['is read in pages by owners and admins, and by nobody else'],
  },
  '5.3 member': {
    'http/member-access-matrix.slow.test.ts': ['lets … … do what the role includes and nothing else'],
    'api-keys/member-keys.test.ts': [
      'a member revokes the keys that they made, an admin those of everybody; another team’s are not found',
    ],
  },
  '5.3 viewer': {
    'http/member-access-matrix.slow.test.ts': ['lets … … do what the role includes and nothing else'],
  },
  '5.3 A key can hold': {
    'api-keys/member-keys.test.ts': [
      'lets nobody give what their own role does not include',
      'a role that is lost while a key is being made counts for that key',
      'a role that is lost while a key is being revoked counts for that too',
      'a lesser role ends the keys that its person made and that hold more, and no other; leaving ends them if asked',
      'who came back revokes the keys that they made before; and their removal ends those too, if asked',
    ],
  },
  '5.3 deviation: a key gives': {
    'api-keys/member-keys.test.ts': [
      'a key gives nobody a permission that it does not hold, and takes some from everybody (decision 0016)',
      'a key gives its own creator no role, and others one',
      'a key that outlives its creator’s place gives that person neither a seat nor a role (decision 0016)',
    ],
  },
  '8 members, live invitations included': {
    'teams/invite.test.ts': ['of 20 at once against the last place one is made'],
    'teams/seats.test.ts': [
      'are counted again: after a downgrade as many may come as there are seats, and the others hear 402',
    ],
  },
  '12.1 An account (acc_…) belongs': {
    'accounts/email.test.ts': [
      'upper and lower case are one, and so are the ways to write a letter with its accent',
      'letters that only look or sound alike are different: another mailbox may have them',
    ],
    'teams/accept-invitation.test.ts': ['makes account, membership and session at once'],
    'database/member-invariants.test.ts': ['an address has one account'],
    'http/member-access-matrix.slow.test.ts': ['a person is in each team what they are there'],
  },
  '12.1 A link that was': {
    'accounts/verified-email.test.ts': [
      'the first link that verifies the address ends its sessions, its password and its passkeys, and says so before',
      'by an invitation that was shown it joins no further team, and the page says what to do',
      'what the operator makes an owner is emptied before it owns anything',
    ],
  },
  '12.1 On a first start': {
    'e2e/owner-link.slow.test.ts': [
      'the first start’s link makes the owner of the first team, once',
      'where the team has none, a link makes the account of the address its owner, and the one before it ends',
    ],
    'teams/accept-invitation.test.ts': [
      'bound to nobody: whoever opens it says address and name, and is the owner',
    ],
  },
  '12.2 A link to sign': {
    'accounts/magic-links.test.ts': [
      'opening one says whom it signs in and changes nothing, as often as a scanner likes',
      'a click signs in, once, and leads to the start',
      'asking answers the same after the same statements, whether the address is known or not',
      'at most 5 an hour go to one address, without a word; the next hour brings more',
    ],
  },
  '12.2 Passwords have 12 to': {
    'accounts/passwords.test.ts': [
      'are kept as argon2id with 19 MiB, two passes, one lane and a salt of their own',
      'at most two are computed at a time, however many sign in, and each of them once',
      'an unknown address, a wrong password and an account without one: same answer, statements and work',
    ],
  },
  '12.2 Failed passwords are counted': {
    'platform/client-network.test.ts': [
      'is an address, with a port or without one, of IPv6 a network of 64 bits, however it is written',
    ],
    'accounts/throttle.slow.test.ts': [
      '10 for one address from one client network in a quarter of an hour; then 429 on every process, right or wrong',
      '100 for one address in all; who is signed in from a client network goes on signing in from there',
      'links and passkeys go on working from where passwords are held back',
    ],
  },
  '12.2 A browser that signed': {
    'accounts/throttle.slow.test.ts': [
      'strangers at the same client network do not hold it back, on any process, on the page or below /app',
      'its own wrong passwords are limited to 10, and those of all such browsers to 100',
      'another account’s cookie, a forged one and one that is too old give nothing',
      'signing out everywhere ends it',
    ],
  },
  '12.2 Passkeys need an APP_URL': {
    'accounts/passkeys.test.ts': [
      'one that was added signs in without an address, and says when it last did',
      'a counter that did not grow betrays a copy; one that always says 0 is let in',
    ],
  },
  '12.2 A session is a': {
    'accounts/sessions.test.ts': [
      'on https its name binds it to this host, and it is Secure',
      'no token is in the database, only its hash',
      'each sign-in makes a new token, whatever the browser carried before',
      'signing in again ends the session that the browser had, of whichever account, and no other',
      'lives for 30 days from its last use, and no longer',
    ],
  },
  '12.2 People see their sessions': {
    'accounts/sessions.test.ts': [
      'signing out ends it at once, on another process too, and clears the cookie',
      'people see their sessions, which one asks, and end each of them',
    ],
  },
  '12.2 A new password asks': {
    'accounts/account.test.ts': [
      'a new password asks for the present one and ends all other sessions',
      'signing out everywhere and a new password end open links',
      'who came by a link less than 15 minutes ago needs no present one; after that they do',
    ],
  },
  '12.2 The pages for this': {
    'accounts/password-page.test.ts': [
      'that it is set is said once, within a minute, to the session that set it and to nobody who was sent to an address',

      'the start offers who has none to set one, and says that it is set; other browsers are signed out',
      'a change asks for the present one; what is wrong is said in the form, by its field, and noted',
      'a session that is not fresh sets no first password, and is told how to come by one',
    ],
    'accounts/switching.test.ts': ['is told so by /sign-in, goes on, or signs out and stays with next'],
    'browser/people-pages.slow.test.ts': [
      'somebody new joins by keyboard, signs out and comes back with the password',
    ],
  },
  "12.3 The dashboard's own addresses": {
    'http/member-access-matrix.slow.test.ts': [
      'every route of a member, an account or a visitor is listed, a member’s with its permission',
    ],
  },
  '12.3 A request that changes': {
    'accounts/csrf.test.ts': [
      'each one that changes something is refused unless it says that it comes from a page of ours, and changes nothing',
    ],
    'browser/people-pages.slow.test.ts': [
      'a page of another origin changes nothing, though the browser sends the cookie along (section 12.3)',
    ],
    'http/member-access-matrix.slow.test.ts': [
      'is a team that does not exist to who is no member of it, whatever is asked',
    ],
    'usage/member-rate-limiter.test.ts': [
      'a session past its 600 requests a minute is refused without a look-up, so that no member fills the pool of others',
      'all members together have five times what keys have, apart from those, and each team has its own',
      'who is no member of a team takes none of its requests',
    ],
    'accounts/throttle.slow.test.ts': [
      'are limited to 120 a minute for each client network, on pages and below /app together',
    ],
  },
  '12.3 POST /app/sign-in {email, password}': {
    'accounts/sessions.test.ts': [
      'signing in answers the account and sets the session’s cookie and the browser’s: HttpOnly, SameSite=Lax, kept for longer than a session lives',
    ],
  },
  '12.3 POST /app/sign-in/link {email}': {
    'mail/member-mails.test.ts': [
      'a link to sign in goes to an address that has an account, and nothing goes to one that has none',
    ],
  },
  '12.3 POST /app/sign-in/passkey/options, POST /app/sign-in/passkey': {
    'accounts/passkeys.test.ts': ['a challenge is used up by its first answer, be that right or wrong'],
  },
  '12.3 GET /app/account': {
    'accounts/account.test.ts': [
      'shows who is signed in, and the teams that they are in, the one joined first first',
    ],
  },
  '12.3 PUT /app/account {name?}': {
    'accounts/account.test.ts': [
      'a name has 1 to 100 characters; left out, or as it is, nothing changes and nothing is noted',
    ],
  },
  '12.3 PUT /app/account/password {password, current_password?}': {
    'accounts/account.test.ts': ['the first password asks for a fresh sign-in'],
  },
  '12.3 GET /app/account/sessions': {
    'accounts/sessions.test.ts': ['people see their sessions, which one asks, and end each of them'],
  },
  '12.3 DELETE /app/account/sessions/:id': {
    'accounts/sessions.test.ts': ['people see their sessions, which one asks, and end each of them'],
  },
  '12.3 POST /app/account/sign-out, …/sign-out-everywhere': {
    'accounts/sessions.test.ts': [
      'signing out everywhere ends all of them, the one that asks included, and nobody else’s',
    ],
  },
  '12.3 GET /app/account/passkeys': {
    'accounts/passkeys.test.ts': [
      'one that was added signs in without an address, and says when it last did',
    ],
  },
  '12.3 POST /app/account/passkeys/options, POST /app/account/passkeys': {
    'accounts/passkeys.test.ts': [
      'adding asks for a fresh sign-in or the present password',
      'adding asks for a fresh challenge of the same account, our origin and no certificates',
    ],
  },
  '12.3 PUT /app/account/passkeys/:id {name}, DELETE': {
    'accounts/passkeys.test.ts': [
      'one is renamed and removed by whoever it belongs to; removed, it signs nobody in',
    ],
  },
  '12.3 GET /app/account/audit limit, cursor': {
    'accounts/account.test.ts': [
      'the audit log comes in pages that show every entry once, and nobody else’s',
    ],
  },
  '12.3 Every page and every': {
    'http/security-headers.test.ts': [
      'to believe its type, to show it in no frame, to name its address to no other site, and to come by https',
      'in no policy does csp_evaluator find anything of high or medium severity',
    ],
  },
  '12.4 {app_url}/invite/<token> is single use': {
    'teams/accept-invitation.test.ts': ['is shown with what it needs, and opening it changes nothing'],
    'teams/end-invitation.test.ts': [
      'sent again it keeps its id and gets a new link for 7 more days; the old link ends',
    ],
  },
  '12.4 Who presses the button': {
    'accounts/verified-email.test.ts': [
      'a second submit of the form opens nothing any more once what was there before has ended',
    ],
    'accounts/switching.test.ts': [
      'the second of two presses of one form is let in, and nobody else who has the link',
      'no second submit lets anybody in once the password is another, its sessions have ended or the member was removed',
    ],
    'browser/people-pages.slow.test.ts': [
      'somebody who joins without a password, by a double click, is in, and is offered to set one',
    ],
  },
  '12.4 A new person says': {
    'accounts/switching.test.ts': [
      'signs out on the page of an invitation, signs in as whom it is for, and joins',
    ],
    'teams/acceptance-page.test.ts': [
      'takes a new person in without script: name, password, a session, and on to the dashboard',
      'sends an address that has an account to sign in and back, says who else is signed in, and lets the right one join',
    ],
  },
  '12.4 Members and live invitations': {
    'teams/invite.test.ts': ['of 20 at once against the last place one is made'],
    'teams/seats.test.ts': [
      'a removal that is first in line makes room for who accepts behind it',
      'a revocation that is first in line ends the link for who accepts behind it',
    ],
  },
  '12.4 An owner makes owners': {
    'teams/owners.test.ts': [
      'can’t leave, be removed or take another role, however it is asked',
      'two who demote each other at once leave one, and so do two who leave at once',
    ],
  },
  '12.4 Everybody may leave. Who': {
    'teams/members.test.ts': [
      'a role that changed, and a removal, count on every process at once',
      'who is then in no team is signed out everywhere',
      'who was demoted while a request of theirs waited changes nothing any more',
    ],
  },
  '12.4 Removing a member, or': {
    'teams/members.test.ts': [
      'keys that the person made go on working, unless revoke_keys=true ends them, and them alone',
    ],
  },
  '12.5 Links begin with APP_URL': {
    'mail/member-mails.test.ts': [
      'an invitation goes to its address and shows no link to whoever makes it; the link is of APP_URL, not of Host',
      'one address is mailed 5 invitations an hour by all teams, and one team mails 100: more is 429 with retry-after',
    ],
  },
  '12.6 Every change of team': {
    'teams/acceptance-page.test.ts': [
      'what it refuses to somebody who is signed in is noted as theirs, and so is what was forged (section 12.6)',
    ],
    'audit/audit.test.ts': [
      'says who did what, to what, when, from where and under which request id: a member, a key',
      'notes what was refused to a known caller, with the reason, and changes nothing',
      'notes a refusal whatever its path held, and one of a page that is not ours',
      'a wrong password leaves an entry in the account’s own log, until the throttle holds back',
      'what an account reads says of others who acted on it neither their name nor where they were',
    ],
    'database/invariants.test.ts': ['the audit log is added to, and nothing else'],
  },
  '12.6 The first refusal of': {
    'audit/audit-refusals.test.ts': [
      '500 equal refusals of one caller make two rows: the first at once, the others with their number at the minute’s end',
      'what goes on for minutes makes one row a minute, and what has ended begins anew',
      'a stop writes what was counted',
      '10,000 refusals of every kind from everywhere make a bounded number of rows, and the log says that there were more',
    ],
    'audit/audit.test.ts': [
      'a wrong password leaves an entry in the account’s own log, until the throttle holds back',
    ],
  },
  '12.6 AUDIT_DAYS says how long': {
    'audit/audit-retention.test.ts': [
      'AUDIT_DAYS drops the months that are older, rows that had no month included, and nothing younger',
      'a month that is made again each hour is dropped only where it has rows',
      'a month that is in use is left alone, and writers do not wait for it longer than a moment; the next round drops it',
      'AUDIT_DAYS=0, the default, keeps everything',
    ],
  },
  '12.7 Per day (UTC) and': {
    'usage/usage.test.ts': [
      'counts what was sent and received day by day, and what is given back not',
      'gives back to the day on which a message was accepted, and the days make the month',
      'without mail the notices are given all the same, and wait in the usage',
    ],
    'mail/member-mails.test.ts': [
      'owners and admins are told once that 80 %, and once that all of the month is used',
      'a team that has nobody to tell is told once it has, and its usage shows when',
      'a team that can’t be told keeps no other from being told',
      '1,100 teams that have nobody to tell keep no later one from its turn',
    ],
  },
};

/* The setup page (docs/specification.md section 11.8). */
const root = document.getElementById('root');
if (!root) throw new Error('the page has no element with the id root');
root.textContent = 'Ownline';
